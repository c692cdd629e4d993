// What a view learns about the page: colours, language and size.

export const MOST_HEIGHT = 800;

const dark = matchMedia('(prefers-color-scheme: dark)');

function theme(): 'light' | 'dark' {
    const chosen = document.documentElement.dataset.theme;
    return chosen === 'light' || chosen === 'dark' ? chosen : dark.matches ? 'dark' : 'light';
}

const containerDimensions = (frame?: HTMLElement) => ({ ...(frame && { width: frame.clientWidth }), maxHeight: MOST_HEIGHT });

export function hostContext(frame?: HTMLElement): Record<string, unknown> {
    const { locale, timeZone } = new Intl.DateTimeFormat().resolvedOptions();
    return {
        theme: theme(),
        displayMode: 'inline',
        availableDisplayModes: ['inline'],
        containerDimensions: containerDimensions(frame),
        locale: navigator.language || locale,
        timeZone,
        userAgent: 'mcp-runtime-playground',
        platform: 'web',
        deviceCapabilities: { touch: matchMedia('(any-pointer: coarse)').matches, hover: matchMedia('(hover: hover)').matches },
    };
}

// Tells about each change of the colours and of the width of a frame. Returns a function that ends it.
export function watchContext(frame: HTMLElement, changed: (change: Record<string, unknown>) => void): () => void {
    const recolour = () => changed({ theme: theme() });
    const chosen = new MutationObserver(recolour);
    chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    dark.addEventListener('change', recolour);
    let width = frame.clientWidth;
    const size = new ResizeObserver(() => {
        // A hidden frame has no width.
        if (frame.clientWidth === width || frame.clientWidth === 0) return;
        width = frame.clientWidth;
        changed({ containerDimensions: containerDimensions(frame) });
    });
    size.observe(frame);
    return () => {
        chosen.disconnect();
        dark.removeEventListener('change', recolour);
        size.disconnect();
    };
}
