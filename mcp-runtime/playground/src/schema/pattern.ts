// Patterns of schemas, which a browser compares with a value after each keystroke.

// Whether a browser can compare texts with a pattern, and does so in a short time for every text. Patterns of other languages have more
// constructs, such as `(?i)`.
export function isPattern(text: string): boolean {
    try {
        new RegExp(text, 'u');
    } catch {
        return false;
    }
    return isQuick(text);
}

// A part of a pattern: a group of alternatives, or the text of a single character, class or assertion.
type Part = { alternatives?: Part[][]; text: string; isVariable: boolean; isRepeated: boolean };

// A browser tries all ways to divide a text among the repetitions in a repeated group, as in `^(a+)+$`. Their number doubles with each character,
// unless the repetitions can only end at one place. So a repeated group needs a fixed length, or a character that separates its repetitions.
function isQuick(text: string): boolean {
    return new Reader(text).alternatives().every((parts) => parts.every(isQuickPart));
}

function isQuickPart({ alternatives, isRepeated }: Part): boolean {
    if (!alternatives) return true;
    if (!alternatives.every((parts) => parts.every(isQuickPart))) return false;
    return !isRepeated || isDivided(alternatives);
}

// Whether the repetitions of a group can be told apart.
function isDivided(alternatives: Part[][]): boolean {
    const isFixed = alternatives.every((parts) => parts.every((part) => !isVariable(part)));
    if (alternatives.length > 1) {
        const firsts = alternatives.map(([first]) => first && literal(first));
        return isFixed && firsts.every((first) => first !== undefined) && new Set(firsts).size === firsts.length;
    }
    const [parts] = alternatives;
    return isFixed || [parts[0], parts.at(-1)].some((part) => isSeparator(part, parts));
}

const isVariable = (part: Part): boolean => part.isVariable || !!part.alternatives?.some((parts, _, all) => all.length > 1 || parts.some(isVariable));

// Whether no variable part can match the character of this part.
function isSeparator(part: Part | undefined, parts: Part[]): boolean {
    const character = part && literal(part);
    return character !== undefined && parts.filter(isVariable).every((other) => !canContain(other, character));
}

const canContain = (part: Part, character: string): boolean =>
    part.alternatives ? part.alternatives.some((parts) => parts.some((inner) => canContain(inner, character))) : new RegExp(`^(?:${part.text})$`, 'u').test(character);

// Returns the character that a part stands for, if it is always this one.
function literal({ alternatives, text, isVariable }: Part): string | undefined {
    if (alternatives || isVariable) return undefined;
    if (/^\\[^\p{L}\p{N}]$/u.test(text)) return text.slice(1);
    return text.length === 1 && !'.^$'.includes(text) ? text : undefined;
}

// Reads a pattern that the browser has accepted.
class Reader {
    #at = 0;
    readonly #text: string;

    constructor(text: string) {
        this.#text = text;
    }

    // Reads up to the end of the pattern or of the group.
    alternatives(): Part[][] {
        const all: Part[][] = [[]];
        while (this.#at < this.#text.length && this.#text[this.#at] !== ')') {
            if (this.#take(/\|/y)) all.push([]);
            else all.at(-1)!.push(this.#part());
        }
        return all;
    }

    #part(): Part {
        let alternatives;
        let text = this.#take(/\((?:\?(?:[:=!]|<[=!]|<[^>]*>))?/y);
        if (text) {
            alternatives = this.alternatives();
            this.#at += 1;
        } else text = this.#take(/\\(?:[pPu]\{[^}]*\}|k<[^>]*>|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c.|.)|\[(?:\\.|[^\]\\])*\]|./suy);
        const [, least, most] = /^(?:\{(\d+)(?:,(\d*))?\})?/.exec(this.#text.slice(this.#at)) ?? [];
        const mark = this.#take(/[*+?]|\{\d+(?:,\d*)?\}/y);
        this.#take(/\?/y);
        const isRange = most !== undefined && most !== least;
        return { alternatives, text, isVariable: /^[*+?]/.test(mark) || isRange, isRepeated: /^[*+]/.test(mark) || (isRange && !(Number(most || Infinity) <= 1)) };
    }

    #take(pattern: RegExp): string {
        pattern.lastIndex = this.#at;
        const found = pattern.exec(this.#text)?.[0] ?? '';
        this.#at += found.length;
        return found;
    }
}
