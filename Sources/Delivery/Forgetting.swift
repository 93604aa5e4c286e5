import Core
import Feed
import Threading

extension Deliverer {
    /// The milliseconds between two questions about which erasures have not removed everything yet.
    private static let erasurePause: Int64 = 2000

    /// Removes the data of erased customers from memory. If the log still has contents that an erasure is about to
    /// remove, they are removed from what is read in the meantime.
    func heedErasures() throws(Fault) {
        let news = mailbox.takeNews()
        if news.isIncomplete { isCut = true }
        for (stream, version) in news.erased where stream.environment == webhook.environment {
            forget(stream, before: version)
        }
        if monotonicMilliseconds() < nextErasures { return }
        var left: [CustomerID: Int64] = [:]
        for (stream, version) in try ports.store.unfinishedErasures()
        where stream.project == name.project && stream.environment == webhook.environment {
            left[stream.customer] = version
        }
        // The reader may have read these customers' contents after it was told to forget them.
        for customer in outbox.erased.keys where left[customer] == nil {
            reader.forget(
                Stream(
                    project: name.project, environment: webhook.environment, customer: customer))
        }
        outbox.erased = left
        nextErasures =
            left.isEmpty ? .max : monotonicMilliseconds() + Deliverer.erasurePause
    }

    private func forget(_ stream: Stream, before version: Int64) {
        let customer = stream.customer
        reader.forget(stream)
        // A replayed message that waits for another try is tried now, so that it counts as one that is not under way.
        for line in delayed.keys where line.customer == customer {
            delayed[line] = nil
            outbox.retry(line)
        }
        outbox.empty(customer, before: version)
        attempts.removeAll { $0.customer == customer }
        forgotten.insert(customer)
        nextErasures = min(nextErasures, monotonicMilliseconds() + Deliverer.erasurePause)
        noteProgress()
    }
}
