// The storages of the browser. A browser may block them, and a private window may have none: the page then forgets at its end.

type Kind = 'localStorage' | 'sessionStorage';

const replaced = new Map<string, string>();

export function read(kind: Kind, name: string): string | null {
    try {
        return globalThis[kind].getItem(name);
    } catch {
        return replaced.get(`${kind} ${name}`) ?? null;
    }
}

// Returns whether the storage is full. The older text stays in it then.
export function write(kind: Kind, name: string, text: string): boolean {
    try {
        globalThis[kind].setItem(name, text);
        return false;
    } catch (error: any) {
        replaced.set(`${kind} ${name}`, text);
        return error?.name === 'QuotaExceededError';
    }
}

export function remove(kind: Kind, name: string): void {
    replaced.delete(`${kind} ${name}`);
    try {
        globalThis[kind].removeItem(name);
    } catch {
        // There is nothing to remove.
    }
}

// Returns a value that was written as JSON.
export function readJson<T>(kind: Kind, name: string): T | undefined {
    try {
        return JSON.parse(read(kind, name) ?? 'null') ?? undefined;
    } catch {
        return undefined;
    }
}
