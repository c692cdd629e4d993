// Protocol revisions that the page can speak.

export const MODERN = '2026-07-28';
export const REVISIONS = [MODERN, '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
export type Choice = 'auto' | (typeof REVISIONS)[number];

export const isChoice = (text: string | null): text is Choice => text === 'auto' || REVISIONS.some((revision) => revision === text);
