// Work on JSON values that may be nested deeper than the functions of a browser can call themselves. No function here calls itself.

const isContainer = (value: unknown): value is object => typeof value === 'object' && value !== null;

// Returns a copy of a value. `leaf` replaces each value in it that is neither an object nor a list. `isKept` names members that stay as they are.
export function mapLeaves(value: any, leaf: (value: any) => any, isKept: (name: string) => boolean = () => false): any {
    if (!isContainer(value)) return leaf(value);
    const copied = (part: object): any => (Array.isArray(part) ? [...part] : { ...part });
    const whole = copied(value);
    // Copies whose members are still those of the original.
    const open = [whole];
    for (let copy = open.pop(); copy !== undefined; copy = open.pop()) {
        for (const name of Object.keys(copy)) {
            if (isKept(name)) continue;
            const member = copy[name];
            copy[name] = isContainer(member) ? copied(member) : leaf(member);
            if (isContainer(member)) open.push(copy[name]);
        }
    }
    return whole;
}

// Whether a value has more levels of objects and lists than `most`.
export function isDeeper(value: unknown, most: number): boolean {
    let level = [value].filter(isContainer);
    for (let depth = 0; level.length; depth += 1) {
        if (depth === most) return true;
        level = level.flatMap((part) => Object.values(part).filter(isContainer));
    }
    return false;
}

// Writes a value as JSON. `write` writes the names in it, and the values that are neither objects nor lists.
export function writeDeep(value: unknown, write: (value: unknown) => string): string {
    const texts: string[] = [];
    // Texts and values that come next, the last one first.
    const rest: { text?: string; value?: unknown }[] = [{ value }];
    for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
        const { text, value: part } = next;
        if (text !== undefined) {
            texts.push(text);
        } else if (isContainer(part)) {
            const isList = Array.isArray(part);
            const members = Object.entries(part).filter(([, member]) => isList || member !== undefined);
            rest.push({ text: isList ? ']' : '}' });
            for (const [at, [name, member]] of [...members.entries()].reverse()) {
                rest.push({ value: member }, { text: `${at ? ',' : ''}${isList ? '' : `${write(name)}:`}` });
            }
            texts.push(isList ? '[' : '{');
        } else {
            texts.push(write(part ?? null));
        }
    }
    return texts.join('');
}
