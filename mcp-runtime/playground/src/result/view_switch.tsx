// Buttons that choose the view of a value. One of them is pressed.

type Props<V extends string> = { views: readonly (readonly [V, string])[]; view: V; choose: (view: V) => void };

export function ViewSwitch<V extends string>({ views, view, choose }: Props<V>) {
    return (
        <span class="switch" role="group" aria-label="Show as">
            {views.map(([name, label]) => (
                <button type="button" aria-pressed={view === name} onClick={() => choose(name)}>
                    {label}
                </button>
            ))}
        </span>
    );
}
