//! Connects the tasks of this process with the other nodes that share the store.

use std::{
    collections::BTreeSet,
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::{sync::mpsc, time::Instant};

use super::{
    message::{TaskMessage, client_with},
    record::{QuestionWriter, SharedRecord},
    run::take_later,
    task_node::{TaskJob, TaskNode},
    tasks::Tasks,
    waiter::{receive_answers, serve},
};
use crate::{
    catalog::Event,
    dispatch::Dispatcher,
    error::{ErrorKind, Result},
    node::{Delivery, NodeId, ServerNode, Subject},
};

/// Pause after an error of the store.
const PAUSE: Duration = Duration::from_secs(1);

/// Maximum number of attempts to do the work that a message causes.
const ATTEMPTS: usize = 60;

/// Connects the tasks with the other nodes. Call it before the node receives messages.
pub(crate) fn share(
    tasks: &Arc<Tasks>,
    dispatcher: &Arc<Dispatcher>,
    node: &Arc<ServerNode>,
    write_question: QuestionWriter,
) {
    let (jobs, queue) = mpsc::unbounded_channel();
    let record = SharedRecord { node: node.id(), write_question };
    if tasks.node.set(TaskNode::new(node.clone(), record, jobs)).is_err() {
        return;
    }
    // The tasks own the node, so the node's handlers have only a weak reference to the tasks.
    let own = Arc::downgrade(tasks);
    tokio::spawn(work(own.clone(), queue));
    let receiver = own.clone();
    node.on(Subject::Tasks, move |delivery| {
        let Some(tasks) = receiver.upgrade() else { return };
        let Some(node) = tasks.node.get() else { return };
        match delivery {
            Delivery::Message { from, body } => match serde_json::from_str(body) {
                Ok(message) => receive(&tasks, node, from, message),
                Err(why) => tracing::debug!("ignored a message of a node: {why}"),
            },
            Delivery::Gap => {
                node.reset_watches();
                // Clients that still wait register again.
                node.end_served(|_| true);
            }
        }
    });
    let running = own.clone();
    node.on_reset(move || {
        let running = running.clone();
        tokio::spawn(async move {
            if let Some(tasks) = running.upgrade() {
                tasks.store_again().await;
            }
        });
    });
    let dispatcher = Arc::downgrade(dispatcher);
    node.on_loss(move |lost| lose(own.clone(), dispatcher.clone(), lost));
}

fn receive(tasks: &Arc<Tasks>, node: &TaskNode, from: NodeId, message: TaskMessage<'_>) {
    match message {
        TaskMessage::Changed { owner, id, version } => {
            if let Some(live) = tasks.running(&id).filter(|_| from != node.id()) {
                // If the lock is held, this node is writing the record. The condition of this write then shows whether another node has taken
                // the task.
                let is_taken = live.stored.try_lock().is_ok_and(|own| *own < Some(version));
                if is_taken {
                    tracing::warn!("task `{id}` is continued by another server");
                    live.lose();
                }
            }
            node.tell_watches(&id);
            if tasks.catalog.bus.follows_task(&id) {
                let (owner, id) = ((*owner).into(), (*id).into());
                let _ = node.jobs.send(TaskJob::News { owner, id });
            }
        }
        TaskMessage::Cancel { id } => {
            if let Some(live) = tasks.running(&id) {
                live.cancel("the client has cancelled it");
            }
        }
        TaskMessage::Answers { owner, id, name, asked } => {
            if tasks.running(&id).is_some() {
                let (owner, id, name) = ((*owner).into(), (*id).into(), (*name).into());
                let _ = node.jobs.send(TaskJob::Answers { owner, id, name, asked });
            }
        }
        TaskMessage::Wait { id, waiter: number, able } => {
            let Some(live) = tasks.running(&id) else { return };
            node.serve((from, number), || {
                let waiter = live.wait(Arc::new(client_with(&able)));
                let serving = serve(Arc::downgrade(tasks), waiter, from, number);
                tokio::spawn(serving).abort_handle()
            });
        }
        TaskMessage::Unwait { waiter } => node.end_served(|at| *at == (from, waiter)),
        TaskMessage::Ask { node: to, waiter, key } if is(node, &to) => {
            node.tell_watch(waiter, |news| news.asked.push((*key).into()));
        }
        TaskMessage::Withdraw { node: to, waiter, key } if is(node, &to) => {
            node.tell_watch(waiter, |news| {
                news.asked.retain(|asked| **asked != *key);
                news.withdrawn.push((*key).into());
            });
        }
        TaskMessage::Ask { .. } | TaskMessage::Withdraw { .. } => {}
    }
}

fn is(node: &TaskNode, id: &str) -> bool {
    NodeId::parse(id) == Some(node.id())
}

/// Does the work that messages cause, in the order of the messages.
async fn work(tasks: Weak<Tasks>, mut queue: mpsc::UnboundedReceiver<TaskJob>) {
    while let Some(job) = queue.recv().await {
        for _ in 0..ATTEMPTS {
            let Some(tasks) = tasks.upgrade() else { return };
            let done = match &job {
                TaskJob::News { owner, id } => tell(&tasks, owner, id).await,
                TaskJob::Answers { owner, id, name, asked } => {
                    receive_answers(&tasks, owner, id, name, *asked).await
                }
            };
            drop(tasks);
            match done {
                Ok(()) => break,
                // Any other error, such as a record that cannot be read, would occur again, and the next messages would wait for ever.
                Err(why) if why.kind() != ErrorKind::Unavailable => {
                    tracing::error!("a message of a node cannot be handled: {}", why.message());
                    break;
                }
                Err(why) => tracing::debug!("a message of a node has to wait: {}", why.message()),
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Notifies the clients of this node of the stored state of a task, except clients that already know this state.
async fn tell(tasks: &Tasks, owner: &str, id: &str) -> Result<()> {
    let view = match tasks.running(id) {
        Some(live) => live.view(),
        None => match tasks.stored.get(owner, id).await? {
            Some(kept) => kept.read()?.view,
            None => return Ok(()),
        },
    };
    tasks.catalog.bus.publish(&Event::TaskChanged(Arc::new(view)));
    Ok(())
}

/// Takes the tasks of nodes that are gone, and ends the work for clients that waited there.
fn lose(tasks: Weak<Tasks>, dispatcher: Weak<Dispatcher>, lost: &BTreeSet<NodeId>) {
    if let Some(node) = tasks.upgrade().as_ref().and_then(|tasks| tasks.node.get()) {
        node.end_served(|(node, _)| lost.contains(node));
    }
    take_later(tasks, dispatcher, Instant::now());
}
