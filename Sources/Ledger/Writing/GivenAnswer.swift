import Threading

/// An answer on its way to the caller. Delivery may take a while, but neither the next commit nor
/// the next read waits for it.
struct GivenAnswer<Answer: Sendable>: Sendable {
    let answer: Answer
    let respond: @Sendable (Answer) -> Void

    func give() { respond(answer) }
}

extension BoundedQueue {
    /// Delivers answers from the queue on a separate thread until the queue is closed and empty.
    func startGiving<Answer>(
        _ name: String, then: @escaping @Sendable () -> Void
    ) where Item == GivenAnswer<Answer> {
        startThread(name) { [self] in
            while let given = take(upTo: Committer.batchLimit) {
                for one in given { one.give() }
            }
            then()
        }
    }
}
