import Core
import Following

/// Builds one page in rounds. Each round takes a share of the events from every shard that has new
/// ones.
struct PageCourse {
    /// The maximum number of log rows that one call reads, even if the filter drops most of them.
    static let rowLimit = 20_000
    /// The maximum number of payload bytes in a page.
    static let byteLimit = 4 << 20
    /// The maximum number of rows in a round if only a few of them are requested.
    private static let roundLimit = 2000

    let question: FeedQuestion
    private(set) var place: [Int64]
    private(set) var heads: [Int64]
    private(set) var turn: Int
    private(set) var items: [FeedItem] = []
    private var rows = 0
    private var bytes = 0
    /// The shards that may have more events.
    private var open: [Int]

    init(_ question: FeedQuestion, at place: [Int64], turn: Int = 0, heads: [Int64]? = nil) {
        self.question = question
        self.place = place
        self.turn = turn
        self.heads = heads ?? place
        open = Array(place.indices)
        guard let customer = question.customer else { return }
        let stream = Stream(
            project: question.project, environment: question.environment, customer: customer)
        let shard = Int(stream.shard.number)
        open = [shard]
        // The other shards contain no events of this customer.
        for other in place.indices where other != shard {
            self.place[other] = max(place[other], self.heads[other])
        }
    }

    /// The next request to the log; `nil` if no more events follow.
    var wish: (interest: Interest, place: [Position])? {
        let left = PageCourse.rowLimit - rows
        guard items.count < question.limit, bytes < PageCourse.byteLimit, !open.isEmpty,
            left >= open.count
        else { return nil }
        let wanted = max(question.limit - items.count, min(PageCourse.roundLimit, 2 * rows))
        let share = max(1, (min(wanted, left) + open.count - 1) / open.count)
        let interest = Interest(
            in: question.project, isWhole: true, isOfCustomers: true,
            page: min(share, left / open.count))
        return (
            interest,
            open.map { Position(shard: Shard(number: Int16($0)), sequence: place[$0]) }
        )
    }

    /// Returns the events of a round: the first one from each shard, then the second one from each shard, and so on.
    func round(of look: FeedLook) -> Round {
        let inTurn = look.stretches.sorted { order(of: $0) < order(of: $1) }
        var steps: [LoggedEvent] = []
        var rank = 0
        var isMore = true
        while isMore {
            isMore = false
            for stretch in inTurn where rank < stretch.events.count {
                steps.append(stretch.events[rank])
                isMore = true
            }
            rank += 1
        }
        return Round(steps: steps, look: look, limit: cut(of: steps))
    }

    private func order(of stretch: Stretch) -> Int {
        (Int(stretch.shard.number) + Shard.count - turn) % Shard.count
    }

    /// Returns how many of these steps fit into the page.
    private func cut(of steps: [LoggedEvent]) -> Int {
        if question.types?.dependOnAccess == true { return steps.count }
        var (items, bytes) = (items.count, bytes)
        for (place, event) in steps.enumerated() where wants(event) {
            items += 1
            bytes += event.content?.payload.utf8.count ?? 0
            if items >= question.limit || bytes >= PageCourse.byteLimit { return place + 1 }
        }
        return steps.count
    }

    func wants(_ event: LoggedEvent) -> Bool { question.mayInclude(event.stream, event.type) }

    /// How many more log rows may be read for this page.
    var rowsLeft: Int { PageCourse.rowLimit - rows }

    /// Counts the rows that were read to determine how events changed access.
    mutating func count(_ more: Int) { rows += more }

    /// Adds events from the round until the page is full.
    mutating func take(_ round: Round, _ access: [Position: AccessTold]) {
        rows += round.steps.count
        var passed = [Int](repeating: 0, count: Shard.count)
        for event in round.steps.prefix(round.limit) {
            if items.count >= question.limit || bytes >= PageCourse.byteLimit { break }
            passed[Int(event.position.shard.number)] += 1
            turn = (Int(event.position.shard.number) + 1) % Shard.count
            add(event, access[event.position])
        }
        for head in round.look.heads { heads[Int(head.shard.number)] = head.sequence }
        var open: [Int] = []
        for stretch in round.look.stretches {
            let shard = Int(stretch.shard.number)
            let count = passed[shard]
            if count == stretch.events.count {
                place[shard] = stretch.end
                if !stretch.isComplete { open.append(shard) }
            } else {
                if count > 0 { place[shard] = stretch.events[count - 1].position.sequence }
                open.append(shard)
            }
        }
        self.open = round.isLast ? [] : open
    }

    private mutating func add(_ event: LoggedEvent, _ told: AccessTold?) {
        guard wants(event), let content = event.content else { return }
        let access = told ?? AccessTold.none
        if let types = question.types, !access.isUnknown,
            !types.include(event.type, access.changes)
        {
            return
        }
        bytes += content.payload.utf8.count + FeedItem.changeSize * access.changes.count
        if let item = FeedItem(event, access) { items.append(item) }
    }

    /// The items in order of recording, and in log order within each shard.
    var sortedItems: [FeedItem] {
        items.sorted { one, other in
            let (first, second) = (one.record.recordedAt, other.record.recordedAt)
            if first != second { return first < second }
            let (left, right) = (one.position, other.position)
            return left.shard == right.shard
                ? left.sequence < right.sequence : left.shard < right.shard
        }
    }
}

/// The events from one look at the log, in the order in which a page takes them.
struct Round {
    let steps: [LoggedEvent]
    let look: FeedLook
    /// How many of the steps may be added to the page.
    var limit: Int
    /// Whether this must be the last round, because another one would be too costly.
    var isLast = false
}

/// The changes that one event caused.
struct AccessTold {
    let changes: [AnswerChange]
    let isUnknown: Bool

    static let none = AccessTold(changes: [], isUnknown: false)
    static let unknown = AccessTold(changes: [], isUnknown: true)
}
