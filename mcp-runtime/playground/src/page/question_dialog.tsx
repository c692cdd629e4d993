// The question of the server or of a view that waits longest, in a dialog.

import { useEffect, useRef, useState } from 'preact/hooks';
import { exactSchema, pretty } from '../exact.ts';
import { focusProblem, SchemaForm } from '../form/schema_form.tsx';
import { Link, Markdown } from '../markdown.tsx';
import { savedRoots, saveRoots, type Question, type Questions } from '../questions.ts';
import { ContentBlock } from '../result/content_block.tsx';
import { problemsOf } from '../schema/check.ts';
import { initialDraft, type Draft } from '../schema/draft.ts';
import { useStore } from '../store.ts';

export function QuestionDialog({ questions }: { questions: Questions }) {
    const open = useStore(questions.open);
    const dialog = useRef<HTMLDialogElement>(null);
    const question = open[0];
    useEffect(() => {
        const { current } = dialog;
        // When the dialog shows its next question, the field that had the focus is gone. The user answers in a field, and else by a link or a button.
        const first = (selectors: string) => current!.querySelector<HTMLElement>(selectors);
        if (question && current!.open) (first('[autofocus]') ?? first('input, select, textarea') ?? first('a, button'))?.focus();
        if (question && !current!.open) current!.showModal();
        if (!question && current!.open) current!.close();
    }, [question]);
    const onKeyDown = (event: KeyboardEvent) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) dialog.current!.querySelector('form')?.requestSubmit();
    };
    // The second click of a double click may meet the next question, which the user has not read.
    const clicked = useRef<number | undefined>(undefined);
    const onClickCapture = (event: MouseEvent) => {
        if (event.detail > 1 && clicked.current !== question?.number) {
            event.preventDefault();
            event.stopPropagation();
        } else {
            clicked.current = question?.number;
        }
    };
    const cancel = (event: Event) => {
        event.preventDefault();
        if (question?.method === 'elicitation/create') question.answer({ action: 'cancel' });
        else question?.refuse(new Error('The user has closed the question'));
    };
    return (
        <dialog ref={dialog} aria-labelledby="question" onCancel={cancel} onKeyDown={onKeyDown} onClickCapture={onClickCapture}>
            {question && <Body key={question.number} question={question} />}
            {open.length > 1 && <p class="quiet">{open.length - 1} more to answer after this.</p>}
        </dialog>
    );
}

function Body({ question }: { question: Question }) {
    switch (question.method) {
        case 'elicitation/create':
            return question.params.mode === 'url' ? <Page question={question} /> : <Form question={question} />;
        case 'sampling/createMessage':
            return <Sampling question={question} />;
        case 'ui/open-link':
            return <OpenLink question={question} />;
        case 'view/call':
            return <ViewCallQuestion question={question} />;
        default:
            return <Roots question={question} />;
    }
}

function Form({ question: { params, answer } }: { question: Question }) {
    const schema = exactSchema(params, 'requestedSchema') ?? { type: 'object', properties: {} };
    const form = useRef<HTMLFormElement>(null);
    const [value, setValue] = useState<Draft>(() => initialDraft(schema, schema, true));
    const [isTried, setTried] = useState(false);
    const problems = problemsOf(value, schema);
    const send = (event: Event) => {
        event.preventDefault();
        setTried(true);
        if (!problems.size) answer({ action: 'accept', content: value });
        else focusProblem(form.current);
    };
    return (
        <form noValidate ref={form} onSubmit={send}>
            <p class="kind">The server asks</p>
            <h2 id="question">{params.message}</h2>
            <SchemaForm schema={schema} value={value} onChange={setValue} problems={problems} showAll={isTried} />
            <Decision answer={answer} />
        </form>
    );
}

function Page({ question: { params, answer } }: { question: Question }) {
    return (
        <div>
            <p class="kind">The server asks to open a page</p>
            <h2 id="question">{params.message}</h2>
            <p class="uri">
                <Link url={params.url}>{params.url}</Link>
            </p>
            <p>
                Host: <code>{hostOf(params.url)}</code>
            </p>
            <p class="quiet">Open the page yourself if you trust the host, and then accept. What you enter there does not pass through the playground.</p>
            <Decision answer={answer} accept={() => answer({ action: 'accept' })} />
        </div>
    );
}

// An address may have a name before its host that looks like another host.
const hostOf = (url: string) => URL.parse(url)?.host || 'none';

function Sampling({ question: { params, answer, refuse } }: { question: Question }) {
    const [text, setText] = useState('');
    const send = (event: Event) => {
        event.preventDefault();
        answer({ role: 'assistant', content: { type: 'text', text }, model: 'a user', stopReason: 'endTurn' });
    };
    return (
        <form onSubmit={send}>
            <p class="kind">The server asks a model</p>
            <h2 id="question">Answer in place of the model</h2>
            {params.systemPrompt && (
                <div class="message">
                    <h3>system</h3>
                    <Markdown text={params.systemPrompt} />
                </div>
            )}
            {params.messages?.map(({ role, content }: any) => (
                <div class="message">
                    <h3>{role}</h3>
                    {[content].flat().map((block: any) => (
                        <ContentBlock block={block} />
                    ))}
                </div>
            ))}
            <div class="field">
                <label for="sampled">Answer of the model</label>
                <textarea id="sampled" rows={4} autofocus value={text} onInput={(event) => setText(event.currentTarget.value)} aria-describedby="sampled-limit" />
                <p class="quiet" id="sampled-limit">
                    {params.maxTokens !== undefined && `The server allows ${params.maxTokens} tokens.`}
                </p>
            </div>
            <Reply refuse={() => refuse(new Error('The user rejected the sampling request'))} />
        </form>
    );
}

function Roots({ question: { answer, refuse } }: { question: Question }) {
    const [text, setText] = useState(() => savedRoots().map(({ uri }) => uri).join('\n') || 'file:///');
    const uris = text.split('\n').map((line) => line.trim()).filter(Boolean);
    const wrong = uris.find((uri) => !uri.startsWith('file://'));
    const send = (event: Event) => {
        event.preventDefault();
        if (wrong) return;
        const roots = uris.map((uri) => ({ uri }));
        saveRoots(roots);
        answer({ roots });
    };
    return (
        <form onSubmit={send}>
            <p class="kind">The server asks for your folders</p>
            <h2 id="question">Roots</h2>
            <div class="field">
                <label for="roots">Folders, one address a line</label>
                <p class="about" id="roots-about">
                    For example <code>file:///home/ada/project</code>
                </p>
                <textarea id="roots" class="code" rows={4} value={text} onInput={(event) => setText(event.currentTarget.value)} aria-invalid={wrong !== undefined} aria-describedby="roots-about roots-problem" />
                <p class="problem" id="roots-problem">
                    {wrong && `${wrong} does not begin with file://`}
                </p>
            </div>
            <Reply refuse={() => refuse(new Error('The user rejected the request for roots'))} />
        </form>
    );
}

function OpenLink({ question: { params, answer, refuse } }: { question: Question }) {
    const { url, tool } = params;
    const open = (event: Event) => {
        event.preventDefault();
        window.open(url, '_blank', 'noopener,noreferrer');
        answer({});
    };
    return (
        <form onSubmit={open}>
            <p class="kind">The view of {tool} asks to open a page</p>
            <h2 id="question">Open a page of {new URL(url).host}?</h2>
            <p class="uri">
                <code>{url}</code>
            </p>
            <p class="quiet">The address may contain data of the call. Open it only if you trust the host.</p>
            <div class="actions">
                <button type="submit">Open the page</button>
                {/* A key that was meant for the view declines. */}
                <button type="button" class="primary" autofocus onClick={() => refuse(new Error('The user has declined to open the page'))}>
                    Decline
                </button>
            </div>
        </form>
    );
}

function ViewCallQuestion({ question: { params, answer, refuse } }: { question: Question }) {
    const { tool, name, title, args } = params;
    const allow = (event: Event) => {
        event.preventDefault();
        answer({});
    };
    return (
        <form onSubmit={allow}>
            <p class="kind">The view of {tool} asks to call a tool</p>
            <h2 id="question">{title ?? name}</h2>
            {title !== undefined && title !== name && (
                <p class="uri">
                    <code>{name}</code>
                </p>
            )}
            <pre tabIndex={0}>{pretty(args)}</pre>
            <p class="quiet">The server does not say that this tool only reads, so the call may change something. Your answer holds for all such calls of this view, also of other tools, until the next run.</p>
            <div class="actions">
                <button type="submit">Allow</button>
                {/* This button has the focus, so a key press that was meant for the view refuses the call. */}
                <button type="button" class="primary" autofocus onClick={() => refuse(new Error('The user has refused the call'))}>
                    Refuse
                </button>
            </div>
        </form>
    );
}

// The buttons under an elicitation. Without `accept`, the first button submits the form around it.
function Decision({ answer, accept }: { answer: Question['answer']; accept?: () => void }) {
    return (
        <div class="actions">
            <button type={accept ? 'button' : 'submit'} class="primary" onClick={accept}>
                Accept
            </button>
            <button type="button" title="Tells the server that the user says no" onClick={() => answer({ action: 'decline' })}>
                Decline
            </button>
            <button type="button" title="Tells the server that the user has not decided, as Esc does" onClick={() => answer({ action: 'cancel' })}>
                Cancel
            </button>
        </div>
    );
}

// The buttons under a request that the user answers in place of the client.
function Reply({ refuse }: { refuse: () => void }) {
    return (
        <div class="actions">
            <button type="submit" class="primary">
                Answer
            </button>
            <button type="button" onClick={refuse}>
                Decline
            </button>
        </div>
    );
}
