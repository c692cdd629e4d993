import { useState } from 'preact/hooks';

// A button that copies a text, and says so.
export function CopyButton({ label, text }: { label: string; text: () => string }) {
    const [outcome, setOutcome] = useState('');
    const copy = async () => {
        try {
            await navigator.clipboard.writeText(text());
            setOutcome('copied');
        } catch {
            setOutcome('the browser does not allow it');
        }
    };
    return (
        <span>
            <button type="button" class="small" onClick={() => void copy()} onBlur={() => setOutcome('')}>
                {label}
            </button>
            <span class="quiet" role="status">
                {outcome && ` ${outcome}`}
            </span>
        </span>
    );
}
