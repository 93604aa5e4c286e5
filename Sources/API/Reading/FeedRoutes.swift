import Core
import Feed
import HTTPServer
import JSON
import Service

/// The call that follows a project's events.
struct FeedRoutes: Sendable {
    private static let waits: ClosedRange<Int64> = 1...30

    let feed: Feed
    let keys: KeyRing

    var routes: [Route] {
        [
            Route(
                "GET", "/events",
                parameters: [
                    "environment", "after", "since", "limit", "types", "customer", "access", "wait",
                ], .read, .database, events)
        ]
    }

    private func events(_ call: Call) throws(Problem) -> Reaction {
        let question = try FeedQuestion(call.query, of: call.access.project)
        let wait = try call.query.optionalInteger("wait", in: FeedRoutes.waits)
        let hidesPrices = call.access.isOfSupport
        guard let wait else {
            return try page(of: question).response(to: question, hidesPrices: hidesPrices).reaction
        }
        return .waiting { () throws(Problem) in
            let outcome = try rethrowing(as: { Problem($0, question.project) }) {
                () throws(FeedError) in
                try feed.ask(question, waiting: 1000 * wait)
            }
            switch outcome {
            case .page(let page):
                return page.response(to: question, hidesPrices: hidesPrices).reaction
            case .waiting(let ticket, let page):
                return .asking { [feed, keys] give in
                    feed.hold(ticket, page) { result in
                        // The key may have been revoked or may have expired while its call was waiting.
                        do throws(Problem) {
                            try keys.requireOpen(call.access.key)
                        } catch {
                            return give(.failure(error))
                        }
                        give(
                            result.map { $0.response(to: question, hidesPrices: hidesPrices) }
                                .mapError { Problem($0, question.project) })
                    }
                }
            }
        }
    }

    private func page(of question: FeedQuestion) throws(Problem) -> FeedPage {
        try rethrowing(as: { Problem($0, question.project) }) { () throws(FeedError) in
            try feed.page(question)
        }
    }
}

extension FeedQuestion {
    init(_ query: QueryParameters, of project: ProjectID) throws(Problem) {
        self.init(project, try query.environment() ?? .production)
        let since = try query.instant("since")
        if let after = query["after"] {
            if since != nil {
                throw .invalid(
                    "since",
                    "\"since\" and \"after\" both set the starting place; send only one of them."
                )
            }
            start = after == "end" ? .end : .cursor(try FeedCursor(member: after, of: project))
        } else if let since {
            start = .since(since)
        }
        limit = try query.pageSize()
        types = try query["types"].map { text throws(Problem) in try FeedTypes(member: text) }
        customer = try query.customer()
        let isToldOf = try query.flag("access")
        tellsAccess = isToldOf || query["access"] == nil
    }
}

extension FeedCursor {
    fileprivate init(member text: String, of project: ProjectID) throws(Problem) {
        do throws(InvalidCursor) {
            try self.init(text, of: project)
        } catch {
            switch error {
            case .broken:
                throw .invalid(
                    "after",
                    "\"after\" must be \"end\", or a cursor exactly as an answer's \"next\" gave it."
                )
            case .ofAnotherProject:
                throw .invalid(
                    "after",
                    "\"after\" is a cursor from another project; send one that this project's feed "
                        + "returned, or none to begin at the start of the log.")
            }
        }
    }
}

extension FeedTypes {
    fileprivate init(member text: String) throws(Problem) {
        do throws(UnknownFeedType) {
            try self.init(text)
        } catch {
            throw .unknownType("types", error)
        }
    }
}

extension Problem {
    init(_ error: FeedError, _ project: ProjectID) {
        switch error {
        case .fault(let fault): self.init(fault)
        case .cursorOfAnotherDatabase:
            self = .invalid(
                "after",
                "\"after\" is a cursor from another installation; send one that this project's feed "
                    + "returned, or none to begin at the start of the log.")
        case .cursorLost(let restart):
            self.init(
                status: 409, code: "cursor_lost",
                detail:
                    "Events that the cursor has passed were lost, and the loss was accepted. Continue "
                    + "with the cursor in \"restart\". Some events may arrive again; recognise them by "
                    + "their id.")
            extensions.append("restart", .string(restart.text(for: project)))
        }
    }
}
