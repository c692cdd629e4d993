// Log messages of the server and of views.

import type { LoggingLevel } from '@modelcontextprotocol/client';
import { Store } from './store.ts';

export const LEVELS: LoggingLevel[] = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

export type LogLine = { number: number; at: Date; level: LoggingLevel; logger?: string; data: unknown; isOfView: boolean; length: number };

const MOST_LINES = 1000;
// Characters of all lines together. The newest line stays in any case.
export const MOST_LENGTH = 5_000_000;

export class LogLines {
    readonly lines = new Store<LogLine[]>([]);
    // Least level that the server sends.
    readonly level = new Store<LoggingLevel>('info');
    #last = 0;

    add({ level, logger, data }: { level: LoggingLevel; logger?: string; data: unknown }, isOfView = false): void {
        this.#last += 1;
        const line = { number: this.#last, at: new Date(), level, logger, data, isOfView, length: JSON.stringify(data)?.length ?? 0 };
        const lines = [...this.lines.value, line].slice(-MOST_LINES);
        let length = lines.reduce((sum, line) => sum + line.length, 0);
        let dropped = 0;
        for (; length > MOST_LENGTH && dropped < lines.length - 1; dropped += 1) length -= lines[dropped].length;
        this.lines.set(lines.slice(dropped));
    }

    clear(): void {
        this.lines.set([]);
    }
}

export const isAtLeast = (level: LoggingLevel, least: LoggingLevel) => LEVELS.indexOf(level) >= LEVELS.indexOf(least);
