// Values that components read, and that change while the page is open.

import { useEffect, useState } from 'preact/hooks';

export class Store<T> {
    #value: T;
    #listeners = new Set<() => void>();

    constructor(value: T) {
        this.#value = value;
    }

    get value(): T {
        return this.#value;
    }

    set(value: T): void {
        this.#value = value;
        for (const listener of [...this.#listeners]) listener();
    }

    // Replaces some members of the value.
    patch(change: Partial<T>): void {
        this.set({ ...this.#value, ...change });
    }

    subscribe(listener: () => void): () => void {
        this.#listeners.add(listener);
        return () => this.#listeners.delete(listener);
    }
}

// Returns the value of a store, and renders the component again when it changes.
export function useStore<T>(store: Store<T>): T {
    const [, render] = useState(0);
    useEffect(() => {
        // The value may have changed between rendering and this effect.
        render((count) => count + 1);
        return store.subscribe(() => render((count) => count + 1));
    }, [store]);
    return store.value;
}
