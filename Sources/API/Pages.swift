package import Answers
package import Feed
package import HTTPServer
package import Service

/// The web pages under one prefix, with their own wording for refusals. Each page checks who may see it.
package struct PageSurface: Sendable {
    let prefix: String
    let refusal: @Sendable (Problem) -> Response
    let routes: [PageRoute]

    package init(
        prefix: String, refusal: @escaping @Sendable (Problem) -> Response, routes: [PageRoute]
    ) {
        self.prefix = prefix
        self.refusal = refusal
        self.routes = routes
    }

    var surface: Surface {
        Surface(prefix: prefix, refusal: refusal, routes: routes.map(\.route))
    }
}

/// A page: its path after the prefix, and the code that produces it, which may block a worker.
package struct PageRoute: Sendable {
    /// The maximum size of a page's form, unless the page says otherwise.
    package static let bodyLimit = 16 << 10
    /// Headers that pages read.
    fileprivate static let lines: [StaticString] = ["Cookie", "Sec-Fetch-Site", "Origin", "Host"]

    let method: String
    let pattern: String
    let bodyLimit: Int
    let room: @Sendable (Visit) -> Room
    let answer: @Sendable (Visit) -> Response

    /// Creates a route. `room` chooses the room in which the visitor waits.
    package init(
        _ method: String, _ pattern: String, bodyLimit: Int = PageRoute.bodyLimit,
        room: @escaping @Sendable (Visit) -> Room,
        answer: @escaping @Sendable (Visit) -> Response
    ) {
        self.method = method
        self.pattern = pattern
        self.bodyLimit = bodyLimit
        self.room = room
        self.answer = answer
    }

    fileprivate var route: Route {
        Route(
            method, pattern, bodyLimit: bodyLimit, .database, lines: PageRoute.lines
        ) { [room, answer] call in
            let visit = Visit(call)
            return (room(visit), .waiting { .answered(.success(answer(visit))) })
        }
    }
}

/// A request for a page.
package struct Visit: Sendable {
    package let arguments: [String]
    /// The part after `?`, as sent.
    package let query: String
    package let body: [UInt8]
    package let client: ClientAddress?
    /// How the request arrived; `nil` if unknown.
    package let way: RequestWay?
    private let path: String
    private let lines: [String: String]

    init(_ call: OpenCall) {
        path = call.path
        arguments = call.arguments
        query = call.rawQuery ?? ""
        body = call.body
        client = call.client
        way = call.way
        lines = call.lines
    }

    /// The path and the query.
    package var place: String { query.isEmpty ? path : "\(path)?\(query)" }

    /// Returns the value of one of the headers that pages read.
    package func header(_ name: StaticString) -> String? { lines["\(name)"] }

    /// Returns the cookie's value, or `nil` if the cookie is missing or occurs more than once.
    package func cookie(_ name: String) -> String? {
        header("Cookie").flatMap { cookieValue(name, in: $0) }
    }
}

extension Router {
    /// Creates a server for the calls at the API's address, and for pages.
    package convenience init(
        _ useCases: UseCases, _ reads: CustomerReads, _ submissions: Submissions, feed: Feed,
        keys: KeyRing, operations: Operations, pages: PageSurface? = nil
    ) {
        self.init(
            [.v1(useCases, reads, submissions, feed, keys, operations), operations.surface]
                + (pages.map { [$0.surface] } ?? []),
            useCases, keys: keys, operations.metrics, operations.log)
    }

    /// Creates a server for pages only, at a separate address.
    package convenience init(
        pages: PageSurface, _ useCases: UseCases, keys: KeyRing, operations: Operations
    ) {
        self.init([pages.surface], useCases, keys: keys, operations.metrics, operations.log)
    }
}
