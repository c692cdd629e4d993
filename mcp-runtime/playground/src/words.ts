// Amounts as people write them.

export function duration(ms: number): string {
    if (ms < 1) return 'less than 1 ms';
    if (ms < 1000) return `${Math.round(ms)} ms`;
    return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

export function bytes(count: number): string {
    if (count < 1000) return `${count} B`;
    return count < 1_000_000 ? `${(count / 1000).toFixed(1)} kB` : `${(count / 1_000_000).toFixed(1)} MB`;
}
