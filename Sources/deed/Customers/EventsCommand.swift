import API
import Assembly
import Commands
import Core
import Feed
import JSON
import Wording

let eventsCommand = CommandSpec(
    path: ["events"], summary: "Follows the events of all customers of a project.",
    options: [
        .value(
            "after", "CURSOR",
            "continue from an earlier call's cursor, or \"end\" for the log's present end"),
        .value("since", "INSTANT", "begin with the first event recorded at this instant or later"),
        .value(
            "types", "LIST", "only these types, such as purchase.made,grant.*,entitlement.ended"),
        .value("customer", "ID", "only events of this customer"),
        .value("limit", "COUNT", "at most this many (default: 100; with --follow, no limit)"),
        .flag("no-access", "leave out what each event changed, which is faster"),
        .flag(
            "follow",
            "continue until interrupted; the position is not stored, so programs should use GET /v1/events"
        ),
        .environment, .project,
    ] + Option.database,
    onlyReads: true, example: "deed events --after end --types 'entitlement.*' --follow"
) { invocation throws(CommandEnd) in
    let question = try invocation.feedQuestion()
    let isFollowing = invocation.has("follow")
    let limit =
        try invocation.integer("limit", in: 1...1_000_000) ?? (isFollowing ? .max : 100)
    if isFollowing { StopSignal.install() }
    try invocation.withLive(in: question.project) { live throws(CommandEnd) in
        var course = EventsCourse(question, left: limit, isFollowing: isFollowing)
        let next = try course.run(live.feed) { item in
            printText(
                invocation.isJSON
                    ? String(
                        decoding: item.json(tellingAccess: question.tellsAccess), as: UTF8.self)
                    : item.line.withVisibleControls)
        }
        let cursor = next.text(for: question.project)
        invocation.show(["next": .string(cursor)], text: "Continue with: --after \(cursor)")
    }
}

/// A run of `deed events`, which prints events page by page, up to the limit.
private struct EventsCourse {
    private static let lookPause = 200
    private static let faultPause = 1000

    private var question: FeedQuestion
    private var left: Int
    private let isFollowing: Bool
    private var isInTrouble = false

    init(_ question: FeedQuestion, left: Int, isFollowing: Bool) {
        self.question = question
        self.left = left
        self.isFollowing = isFollowing
    }

    /// Prints the events and returns the position after the last one.
    mutating func run(
        _ feed: FeedReader, _ show: (FeedItem) -> Void
    ) throws(CommandEnd) -> FeedCursor {
        while true {
            question.limit = min(Int(FeedQuestion.limits.upperBound), left)
            if let page = try page(of: feed) {
                if isInTrouble { printError("The database can be reached again.") }
                isInTrouble = false
                page.items.forEach(show)
                left -= page.items.count
                question.start = .cursor(page.next)
                let isAtEnd = !page.isMore
                let isOver = left == 0 || isAtEnd && !isFollowing
                let pause = isAtEnd ? EventsCourse.lookPause : 0
                if isOver || isFollowing && StopSignal.wait(milliseconds: pause) {
                    return page.next
                }
            } else if StopSignal.wait(milliseconds: EventsCourse.faultPause),
                case .cursor(let cursor) = question.start
            {
                return cursor
            }
        }
    }

    /// Returns the next page, or `nil` if `--follow` has to try again later.
    private mutating func page(of feed: FeedReader) throws(CommandEnd) -> FeedPage? {
        do throws(FeedError) {
            return try feed.page(question)
        } catch {
            switch error {
            case .fault(let fault):
                guard case .cursor(let cursor) = question.start else { throw CommandEnd(fault) }
                guard isFollowing, fault == .busy || fault == .unavailable else {
                    printError("Continue with: --after \(cursor.text(for: question.project))")
                    throw CommandEnd(fault)
                }
                if !isInTrouble { printError("\(fault.withRemedy) Deed keeps trying.") }
                isInTrouble = true
                return nil
            case .cursorOfAnotherDatabase:
                throw .usage("--after is a cursor from another installation")
            case .cursorLost(let restart):
                throw .refused(
                    code: "cursor_lost",
                    sentence:
                        "Events that the cursor has passed were lost, and the loss was accepted. "
                        + "Continue with: --after \(restart.text(for: question.project))")
            }
        }
    }
}

extension Invocation {
    fileprivate func feedQuestion() throws(CommandEnd) -> FeedQuestion {
        let environment: Environment = try word("environment") ?? .production
        var question = FeedQuestion(try project(), environment)
        let since = try instant("since")
        if let after = self["after"] {
            if since != nil { throw usage("give --since or --after, not both") }
            question.start =
                after == "end" ? .end : .cursor(try cursor(after, of: question.project))
        } else if let since {
            question.start = .since(since)
        }
        if let text = self["types"] {
            do throws(UnknownFeedType) {
                question.types = try FeedTypes(text)
            } catch {
                let hint = error.nearest.map { "; the nearest is \"\($0)\"" } ?? ""
                throw usage("--types names \"\(error.name)\", but no event has that name\(hint)")
            }
        }
        question.customer = try customer("customer")
        question.tellsAccess = !has("no-access")
        return question
    }

    private func cursor(
        _ text: String, of project: ProjectID
    ) throws(CommandEnd) -> FeedCursor {
        do throws(InvalidCursor) {
            return try FeedCursor(text, of: project)
        } catch {
            switch error {
            case .broken:
                throw usage("--after takes \"end\", or a cursor exactly as it was printed")
            case .ofAnotherProject: throw usage("--after is a cursor from another project")
            }
        }
    }
}

extension FeedItem {
    fileprivate var line: String {
        let changes = access.map { "\($0.entitlement) \($0.kind.rawValue)" }
        return "\(position)   \(record.recordedAt.text)   \(type)   \(stream.customer)"
            + (payload.isEmpty ? "   erased" : "")
            + (changes.isEmpty ? "" : "   " + changes.joined(separator: ", "))
    }
}
