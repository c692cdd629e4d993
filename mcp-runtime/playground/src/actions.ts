// What components deep in the page can do.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

export type Actions = { readResource: (uri: string) => void; logIn: () => void };

export const ActionsContext = createContext<Actions>({ readResource: () => {}, logIn: () => {} });
export const useActions = () => useContext(ActionsContext);
