// The whole page, and what it keeps from one view to the next.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Boundary } from './boundary.tsx';
import { Header } from './header.tsx';
import { ItemPage } from './item_page.tsx';
import { QuestionDialog } from './question_dialog.tsx';
import { Sidebar } from './sidebar.tsx';
import { Welcome } from './welcome.tsx';
import { ActionsContext } from '../actions.ts';
import { format, parse, type Place } from '../address.ts';
import { Connection } from '../connection.ts';
import { openHistory, type Past } from '../history.ts';
import { itemsOf, type Item } from '../items.ts';
import { Panel } from '../panel/panel.tsx';
import type { Choice } from '../revision.ts';
import { Runs, type Run } from '../runs.ts';
import { sharedArgs } from '../shared_args.ts';
import { useStore } from '../store.ts';
import { Tasks } from '../tasks.ts';
import { ViewList } from '../view/view_list.tsx';
import { Views } from '../view/views.ts';

const WRITE_PAUSE_MS = 150;

export function App() {
    const connection = useMemo(() => new Connection(), []);
    const tasks = useMemo(() => new Tasks(connection), [connection]);
    const runs = useMemo(() => new Runs(connection, tasks), [connection, tasks]);
    const views = useMemo(() => new Views(connection, runs), [connection, runs]);
    const [place, setPlace] = useState<Place>(() => parse(location.hash));
    // Counts the changes of the form from outside: a link, the history, another item. Each makes a new form.
    const [formKey, setFormKey] = useState(0);
    const offer = useStore(connection.offer);
    const items = useMemo(() => itemsOf(offer), [offer]);
    const main = useRef<HTMLElement>(null);
    const server = offer.server?.name;
    const isLogin = offer.status === 'login';
    useEffect(() => {
        if (server !== undefined || isLogin) openHistory(server);
    }, [server, isLogin]);

    const connect = (choice: Choice) => connection.connect(choice);
    const revision = useRef(place.revision);
    revision.current = place.revision;
    useEffect(() => void connect(place.revision), []);
    const writing = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
    useEffect(() => {
        const read = () => {
            const next = parse(location.hash);
            clearTimeout(writing.current);
            const isOther = next.revision !== revision.current;
            if (isOther) runs.cancel();
            runs.show(undefined);
            if (isOther) void connect(next.revision);
            setPlace(next);
            setFormKey((key) => key + 1);
        };
        addEventListener('hashchange', read);
        return () => removeEventListener('hashchange', read);
    }, [runs]);

    const address = (next: Place) => {
        const schema = items.find(({ kind, id }) => kind === next.kind && id === next.name)?.schema;
        return format({ ...next, args: sharedArgs(next.args, schema) });
    };
    // Browsers allow few changes of the address in a short time, so it follows the typing after a pause.
    const write = (next: Place) => {
        setPlace(next);
        clearTimeout(writing.current);
        writing.current = setTimeout(() => history.replaceState(null, '', address(next)), WRITE_PAUSE_MS);
    };
    const go = (next: Place) => {
        clearTimeout(writing.current);
        if (address(next) === (location.hash || '#/')) return;
        history.pushState(null, '', address(next));
        runs.show(undefined);
        setPlace(next);
        setFormKey((key) => key + 1);
    };
    const changeRevision = (revision: Choice) => {
        clearTimeout(writing.current);
        // A result of the old revision says nothing about the next one. A call that has ended with its connection says so.
        if (revision !== place.revision && runs.current.value?.state !== 'cancelled') runs.show(undefined);
        runs.cancel();
        const next = { ...place, revision };
        setPlace(next);
        history.replaceState(null, '', address(next));
        void connect(revision);
    };
    // The next user must not see what this one has seen.
    const logOut = () => {
        runs.forget();
        connection.login.logOut();
        void connect(place.revision);
        for (const seen of [connection.wire, connection.log, tasks]) seen.clear();
    };
    const readResource = (uri: string) => {
        go({ kind: 'resource', name: uri, revision: place.revision });
        // The page of the resource shows that a call is running, and how to cancel it.
        if (runs.current.value?.state !== 'running') void runs.start({ kind: 'resource', item: uri, name: uri, args: undefined, asTask: false, schema: {} });
        main.current?.focus();
    };
    // With the old token, the server would not ask for more permissions.
    const logIn = () => {
        connection.login.logOut();
        void connection.logIn(place.revision);
    };
    const repeat = ({ kind, item, name, args }: Past) => go({ kind, name: item ?? name, args, revision: place.revision });

    // The focus moves to the form. From the list, Tab would first visit every item below the chosen item.
    const choose = ({ kind, id }: Item) => {
        go({ kind, name: id, revision: place.revision });
        main.current?.focus();
    };
    const showRun = ({ kind, item, args }: Run) => {
        go({ kind, name: item, args, revision: place.revision });
        main.current?.focus();
    };

    const item = items.find(({ kind, id }) => kind === place.kind && id === place.name);
    const shown = item ?? (place.kind === 'resource' && place.name ? { kind: 'resource' as const, id: place.name, name: place.name, title: place.name, hints: [] } : undefined);
    return (
        <ActionsContext.Provider value={{ readResource, logIn }}>
            <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), main.current?.focus())}>
                Skip to the item
            </a>
            <Header connection={connection} revision={place.revision} onRevision={changeRevision} onLogOut={logOut} />
            <div class="columns">
                <Sidebar items={items} status={offer.status} chosen={place} onChoose={choose} />
                <main id="main" ref={main} tabIndex={-1}>
                    {shown && offer.status === 'ready' ? (
                        <Boundary key={`${shown.kind} ${shown.id} ${formKey}`} about="This item">
                            <ItemPage item={shown} connection={connection} runs={runs} args={place.args} onArgs={(args) => write({ ...place, args })} onShow={showRun} />
                        </Boundary>
                    ) : (
                        <Welcome connection={connection} missing={offer.status === 'ready' ? place.name : undefined} count={items.length} onConnect={() => void connect(place.revision)} onLogin={() => void connection.logIn(place.revision)} onToken={(token) => (connection.login.enterToken(token), void connect(place.revision))} />
                    )}
                    <ViewList views={views} tool={shown?.kind === 'tool' && offer.status === 'ready' ? shown.id : undefined} />
                </main>
            </div>
            <Panel connection={connection} tasks={tasks} onRepeat={repeat} />
            <QuestionDialog questions={connection.questions} />
        </ActionsContext.Provider>
    );
}
