import Core
package import Following
import Threading

/// Serves a project's feed. A caller gets a page immediately, or waits until a matching event arrives.
///
/// A waiting call occupies no thread. It is registered before the log is read, so that any later event wakes it.
package final class Feed: Sendable {
    /// The maximum number of calls that may wait at the same time.
    package static let waitLimit = 1024
    private static let threads = 2

    package typealias Give = @Sendable (Result<FeedPage, FeedError>) -> Void

    /// The result of a question to the feed.
    package enum Outcome: Sendable {
        case page(FeedPage)
        /// No event matches yet. To get a page later, the caller must `hold` the ticket.
        case waiting(Ticket, FeedPage)
    }

    /// A waiting call.
    package struct Ticket: Sendable {
        fileprivate let number: Int
    }

    private let reader: FeedReader
    private let state = Monitor(WaitingRoom())

    package init(_ reader: FeedReader) {
        self.reader = reader
        for number in 1...Feed.threads {
            startThread("feed-\(number)") { [state, reader] in Feed.serve(state, reader) }
        }
    }

    /// Follows the log on behalf of waiting calls.
    package var follower: MemoryReader {
        MemoryReader(
            Interest(),
            begin: { [state, reader] in
                reader.forget()
                state.changeAndWake { room in (room.ringAll(), .all) }
            },
            tell: { [state] events in
                state.changeAndWake { room in ((), room.ring(events) ? .all : .none) }
            })
    }

    package var waiting: Int { state.change(wake: .none) { $0.count } }

    package func page(_ question: FeedQuestion) throws(FeedError) -> FeedPage {
        try reader.page(question)
    }

    /// Returns a page. If the page would be empty because the log has ended, lets the call wait.
    package func ask(
        _ question: FeedQuestion, waiting milliseconds: Int64
    ) throws(FeedError) -> Outcome {
        let deadline = monotonicMilliseconds() + milliseconds
        let number = state.change(wake: .none) { $0.enter(question, until: deadline) }
        do throws(FeedError) {
            let page = try reader.page(question)
            if let number, page.items.isEmpty, !page.isMore {
                return .waiting(Ticket(number: number), page)
            }
            if let number { state.change(wake: .none) { $0.leave(number) } }
            return .page(page)
        } catch {
            if let number { state.change(wake: .none) { $0.leave(number) } }
            throw error
        }
    }

    /// Delivers the page once an event matches or the time is up. Calls `give` exactly once.
    package func hold(_ ticket: Ticket, _ page: FeedPage, give: @escaping Give) {
        let isHeld = state.changeAndWake { room in
            let isHeld = room.hold(ticket.number, page, give)
            return (isHeld, isHeld ? .all : .none)
        }
        if !isHeld { give(.success(page)) }
    }

    /// Answers all waiting calls, and lets no more calls wait.
    package func stop() {
        let held = state.change { $0.close() }
        for (page, give) in held { give(.success(page)) }
    }

    deinit { stop() }

    private static func serve(_ state: Monitor<WaitingRoom>, _ reader: FeedReader) {
        while true {
            let (pause, seen) = state.change(wake: .none) { room in
                (room.pause(at: monotonicMilliseconds()), room.changes)
            }
            let found = state.wait(milliseconds: pause) { room -> WaitingRoom.Next? in
                if room.isClosed { return .end }
                if let group = room.next(at: monotonicMilliseconds()) { return .group(group) }
                // A call that has arrived in the meantime may have an earlier deadline.
                return room.changes == seen ? nil : .nothing
            }
            guard case .group(let group) = found else {
                if case .end = found { return }
                continue
            }
            let result = Result { () throws(FeedError) in try reader.page(group.question) }
            let answers = state.changeAndWake { room in (room.settle(group, result), .all) }
            for (give, result) in answers { give(result) }
        }
    }
}
