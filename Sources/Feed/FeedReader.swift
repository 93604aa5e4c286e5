package import Core
package import Following
import Synchronization

/// Reads pages of a project's feed from the log.
package final class FeedReader: Sendable {
    /// A replacement cursor starts this many milliseconds before the lost cursor was created. Clocks may differ, and an
    /// instance that never saw the lost events keeps issuing cursors until the loss is accepted.
    private static let restartMargin: Int64 = 1_800_000

    let log: any FeedLog
    private let now: @Sendable () -> Instant
    private let memory: ToldMemory
    /// The states of customers just before events that readers may request again.
    let waiters: ToldMemory
    private let losses = Mutex<[ProjectID: AcceptedLosses]>([:])

    package init(
        _ log: some FeedLog, now: @escaping @Sendable () -> Instant, bytes: Int = 32 << 20
    ) {
        self.log = log
        self.now = now
        memory = ToldMemory(bytes: bytes)
        waiters = ToldMemory(bytes: bytes)
    }

    package func page(_ question: FeedQuestion) throws(FeedError) -> FeedPage {
        let (course, project) = try course(of: question)
        let losses = AcceptedLosses(project.acceptances)
        let origin = project.createdAt ?? Instant(milliseconds: 0)
        let marks = try rethrowing(as: FeedError.fault, self.marks(of: course.place))
        if case .cursor(let cursor) = question.start {
            if cursor.origin != origin { throw .cursorOfAnotherDatabase }
            let isMoved = cursor.place != course.place
            let found =
                isMoved ? try rethrowing(as: FeedError.fault, self.marks(of: cursor.place)) : marks
            if cursor.losses != losses || cursor.marks != found {
                throw .cursorLost(restart: try restart(cursor, losses))
            }
        }
        let next = FeedCursor(
            course.place, marks: marks, turn: course.turn, givenAt: now(), origin: origin,
            losses: losses)
        return FeedPage(
            items: course.sortedItems.naming(actorsOf: project), next: next, heads: course.heads)
    }

    /// Returns a cursor for the place in the log at which the question starts.
    package func cursor(of question: FeedQuestion) throws(FeedError) -> FeedCursor {
        try rethrowing(as: FeedError.fault) { () throws(Fault) in
            let course = try begin(question)
            let project = try log.project(question.project)
            return FeedCursor(
                course.place, marks: try marks(of: course.place), turn: 0, givenAt: now(),
                origin: project.createdAt ?? Instant(milliseconds: 0),
                losses: AcceptedLosses(project.acceptances))
        }
    }

    private func marks(of place: [Int64]) throws(Fault) -> PlaceMarks {
        PlaceMarks(try log.marks(of: place))
    }

    /// Reads a page, and then the project. The project comes last, because it then shows any loss
    /// accepted in the meantime.
    private func course(
        of question: FeedQuestion
    ) throws(FeedError) -> (PageCourse, ProjectState) {
        let course = try rethrowing(as: FeedError.fault) { () throws(Fault) in
            var course = try begin(question)
            let teller = AccessTeller(log, memory, question.project)
            while let wish = course.wish {
                let look = try log.look(wish.interest, after: wish.place)
                var round = course.round(of: look)
                var access: [Position: AccessTold] = [:]
                if question.needsAccess { access = try teller.tell(&round, in: &course) }
                course.take(round, access)
            }
            return course
        }
        let project = try rethrowing(as: FeedError.fault, log.project(question.project))
        // The remembered states of customers may include events that have been lost.
        if isNews(AcceptedLosses(project.acceptances), of: question.project) {
            forget()
            return try self.course(of: question)
        }
        return (course, project)
    }

    private func begin(_ question: FeedQuestion) throws(Fault) -> PageCourse {
        // A read of one shard does not return the heads of the others.
        var heads = question.customer == nil ? nil : try log.heads()
        var (place, turn) = ([Int64](repeating: 0, count: Shard.count), 0)
        switch question.start {
        case .beginning: break
        case .end:
            if heads == nil { heads = try log.heads() }
            place = heads ?? place
        case .since(let instant): place = try log.places(before: instant)
        case .cursor(let cursor): (place, turn) = (cursor.place, cursor.turn)
        case .place(let known): place = known
        }
        return PageCourse(question, at: place, turn: turn, heads: heads)
    }

    /// Returns a cursor that covers only events that still exist: events that the old cursor passed and that were
    /// recorded long enough before it was issued. Events that took the places of lost ones were recorded later.
    private func restart(
        _ cursor: FeedCursor, _ losses: AcceptedLosses
    ) throws(FeedError) -> FeedCursor {
        let instant = cursor.givenAt.advanced(byMilliseconds: -FeedReader.restartMargin)
        let kept = try rethrowing(as: FeedError.fault, log.places(before: instant))
        let place = zip(cursor.place, kept).map(min)
        return FeedCursor(
            place, marks: try rethrowing(as: FeedError.fault, marks(of: place)), turn: cursor.turn,
            givenAt: cursor.givenAt,
            origin: cursor.origin, losses: losses)
    }

    /// Returns whether a loss has been accepted since the last request for the project's feed.
    private func isNews(_ losses: AcceptedLosses, of project: ProjectID) -> Bool {
        let before = self.losses.withLock { $0.updateValue(losses, forKey: project) }
        return before.map { $0 != losses } ?? false
    }

    /// Forgets all customers, because the database may now contain a different log.
    package func forget() {
        memory.forget()
        waiters.forget()
    }

    package func forget(_ erased: [LoggedEvent]) {
        for event in erased { forget(event.stream) }
    }

    /// Forgets one customer.
    package func forget(_ stream: Stream) {
        memory.forget(stream)
        waiters.forget(stream)
    }
}
