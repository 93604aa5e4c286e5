import Core
import Following

/// The calls that wait for a matching event.
struct WaitingRoom {
    private struct Call {
        enum Stage { case reading, held, ready }
        let question: FeedQuestion
        let deadline: Int64
        var stage = Stage.reading
        /// Whether an event that may match has arrived since the log was read.
        var isRung = false
        var page: FeedPage?
        var give: Feed.Give?
    }
    /// The events for which a call waits.
    fileprivate enum Subject: Hashable {
        case all(ProjectID, Environment)
        case one(Stream)
    }
    /// Calls with the same question, each at its own position.
    struct Group {
        let question: FeedQuestion
        fileprivate let numbers: [Int]
        /// The calls whose time has run out.
        fileprivate let due: Set<Int>
    }
    /// What to do next.
    enum Next {
        case group(Group)
        case nothing
        case end
    }
    private var calls: [Int: Call] = [:]
    /// For each subject, the calls that have not been woken yet.
    private var listeners: [Subject: Set<Int>] = [:]
    private var ready: [Int] = []
    private var last = 0
    /// How many times a call has been put on hold. A thread that waits sees from this whether to
    /// look again.
    private(set) var changes = 0
    private(set) var isClosed = false

    /// The number of calls that have read the log to its end.
    var count: Int { calls.values.count { $0.page != nil } }

    /// Returns a number for the call if it may wait, and otherwise `nil`.
    mutating func enter(_ question: FeedQuestion, until deadline: Int64) -> Int? {
        if isClosed || calls.count >= Feed.waitLimit { return nil }
        last += 1
        calls[last] = Call(question: question, deadline: deadline)
        listeners[question.subject, default: []].insert(last)
        return last
    }

    mutating func leave(_ number: Int) {
        guard let call = calls.removeValue(forKey: number) else { return }
        unlist(number, call.question)
    }

    private mutating func unlist(_ number: Int, _ question: FeedQuestion) {
        listeners[question.subject]?.remove(number)
        if listeners[question.subject]?.isEmpty == true { listeners[question.subject] = nil }
    }

    /// Puts the call on hold. Returns false if it must be answered immediately.
    mutating func hold(_ number: Int, _ page: FeedPage, _ give: @escaping Feed.Give) -> Bool {
        guard !isClosed, var call = calls[number] else {
            leave(number)
            return false
        }
        changes += 1
        (call.page, call.give) = (page, give)
        call.stage = call.isRung ? .ready : .held
        calls[number] = call
        if call.isRung { ready.append(number) }
        return true
    }

    /// Wakes the calls that these events may match. Returns whether any calls must be answered.
    mutating func ring(_ events: [LoggedEvent]) -> Bool {
        if listeners.isEmpty { return false }
        let before = ready.count
        for event in events {
            let (stream, position) = (event.stream, event.position)
            for subject in [.all(stream.project, stream.environment), Subject.one(stream)] {
                for number in listeners[subject] ?? [] {
                    guard let call = calls[number],
                        call.question.mayInclude(stream, event.type)
                    else { continue }
                    let place = call.page?.next.place[Int(position.shard.number)]
                    if let place, position.sequence <= place { continue }
                    ring(number)
                }
            }
        }
        return ready.count > before
    }

    mutating func ringAll() { for number in calls.keys { ring(number) } }

    private mutating func ring(_ number: Int) {
        guard var call = calls[number], !call.isRung else { return }
        call.isRung = true
        if call.stage == .held {
            call.stage = .ready
            ready.append(number)
        }
        calls[number] = call
        unlist(number, call.question)
    }

    /// Returns the milliseconds until the next action is due.
    func pause(at time: Int64) -> Int64 {
        if !ready.isEmpty { return 0 }
        let next = calls.values.lazy.filter { $0.stage == .held }.map(\.deadline).min()
        return next.map { max(0, $0 - time) } ?? 60_000
    }

    /// Returns the next calls to answer, all with the same question.
    mutating func next(at time: Int64) -> Group? {
        var due: Set<Int> = []
        for (number, call) in calls where call.stage != .reading && call.deadline <= time {
            due.insert(number)
            if call.stage == .held {
                calls[number]?.stage = .ready
                ready.append(number)
            }
        }
        guard let first = ready.first.flatMap({ calls[$0]?.question }) else {
            ready = []
            return nil
        }
        let losses = ready.first.flatMap { calls[$0]?.page?.next.losses }
        // A cursor with different accepted losses may itself be lost, so its call does not join this group.
        let numbers = ready.filter { number in
            guard let call = calls[number] else { return false }
            return call.question.isSame(as: first) && call.page?.next.losses == losses
        }
        ready.removeAll { calls[$0] == nil || numbers.contains($0) }
        var question = first
        for (place, number) in numbers.enumerated() {
            // From here on, events may arrive that the next read misses.
            calls[number]?.isRung = false
            calls[number]?.stage = .reading
            listeners[question.subject, default: []].insert(number)
            guard let next = calls[number]?.page?.next else { continue }
            question.start = place == 0 ? .cursor(next) : question.start.earlier(next)
        }
        return Group(question: question, numbers: numbers, due: due)
    }

    /// Answers the calls of a group. A call without matching events keeps waiting.
    mutating func settle(
        _ group: Group, _ result: Result<FeedPage, FeedError>
    ) -> [(Feed.Give, Result<FeedPage, FeedError>)] {
        var answers: [(Feed.Give, Result<FeedPage, FeedError>)] = []
        for number in group.numbers {
            guard let call = calls[number], let page = call.page, let give = call.give else {
                continue
            }
            let own = result.map { $0.after(page.next) }
            if case .success(let page) = own, page.items.isEmpty, !page.isMore || call.isRung,
                !group.due.contains(number), !isClosed
            {
                _ = hold(number, page, give)
                continue
            }
            leave(number)
            answers.append((give, own))
        }
        return answers
    }

    /// Closes the waiting room, and returns the pages for the waiting calls.
    mutating func close() -> [(FeedPage, Feed.Give)] {
        isClosed = true
        let held = calls.filter { $0.value.stage != .reading }
        for number in held.keys { leave(number) }
        return held.values.compactMap { call in
            call.page.flatMap { page in call.give.map { (page, $0) } }
        }
    }
}

extension FeedQuestion {
    fileprivate var subject: WaitingRoom.Subject {
        let one = customer.map { customer in
            Stream(project: project, environment: environment, customer: customer)
        }
        return one.map(WaitingRoom.Subject.one) ?? .all(project, environment)
    }

    /// Returns whether the two questions differ at most in their starting points.
    fileprivate func isSame(as other: FeedQuestion) -> Bool {
        var other = other
        other.start = start
        return self == other
    }
}

extension FeedQuestion.Start {
    /// Returns the earlier of the two positions in each shard.
    fileprivate func earlier(_ other: FeedCursor) -> Self {
        guard case .cursor(let cursor) = self else { return .cursor(other) }
        return .cursor(
            FeedCursor(
                zip(cursor.place, other.place).map(min),
                marks: cursor.marks.taking(other.marks) { cursor.place[$0] > other.place[$0] },
                turn: cursor.turn,
                givenAt: min(cursor.givenAt, other.givenAt), origin: cursor.origin,
                losses: cursor.losses))
    }
}
