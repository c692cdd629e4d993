// Amounts as people write them.

export function duration(ms: number): string {
    if (ms < 1) return 'less than 1 ms';
    if (Math.round(ms) < 1000) return `${Math.round(ms)} ms`;
    const [tenths, seconds] = [Math.round(ms / 100), Math.round(ms / 1000)];
    return tenths < 600 ? `${(tenths / 10).toFixed(1)} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

export function bytes(count: number): string {
    if (count < 1000) return `${count} B`;
    const tenths = Math.round(count / 100);
    return tenths < 10_000 ? `${(tenths / 10).toFixed(1)} kB` : `${(count / 1_000_000).toFixed(1)} MB`;
}
