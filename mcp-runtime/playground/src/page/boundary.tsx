// Shows a text in place of a part of the page that cannot be drawn, so that the other parts stay.

import { Component, type ComponentChildren } from 'preact';

type Props = { about: string; children: ComponentChildren };

export class Boundary extends Component<Props, { problem?: string }> {
    static override getDerivedStateFromError(error: unknown) {
        return { problem: error instanceof Error ? error.message : String(error) };
    }

    override render({ about, children }: Props) {
        const { problem } = this.state;
        if (problem === undefined) return children;
        return (
            <p class="notice notice-error" role="alert">
                {about} cannot be shown: {problem}. The tab “Wire” shows the message of the server.
            </p>
        );
    }
}
