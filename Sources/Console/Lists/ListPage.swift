import API
import Core
import HTTPServer
import JSON

/// One of the project's lists, page by page, in one environment.
struct ListPage {
    /// The list's title, its call, and the members that it shows.
    struct Kind: Sendable {
        let title: String
        let path: String
        /// The member in the answer that contains the list.
        let member: String
        /// The sentence shown instead of an empty list.
        let empty: StaticString
        let columns: [String]
        let row: @Sendable (JSON, ProjectRoom, _ isSandbox: Bool) -> [Markup]
    }

    private let kind: Kind
    private let room: ProjectRoom
    private let isSandbox: Bool
    private let answer: JSON
    /// The address of the list for production.
    private let start: Place
    private let place: Place

    init(_ kind: Kind, at place: Place, _ room: ProjectRoom, _ visit: Visit) throws(Turned) {
        self.kind = kind
        self.room = room
        start = place
        let fields = Fields(visit.query)
        isSandbox = fields["environment"] == Environment.sandbox.rawValue
        let environment = (isSandbox ? Environment.sandbox : .production).rawValue
        self.place = place.with("environment", isSandbox ? environment : nil)
        let after = fields["after"].map { "&after=\(percentEncoded($0))" } ?? ""
        let call = InnerCall(
            "GET", kind.path, query: "environment=\(environment)&limit=100\(after)")
        answer = try turning { () throws(Problem) in try room.send(call) }
    }

    func response() -> Response {
        Page(title: kind.title, visitor: room.visitor, room: room, content: content).response()
    }

    private var content: Markup {
        let list = answer[kind.member]?.array ?? []
        let other = start.with("environment", isSandbox ? nil : Environment.sandbox.rawValue)
        let rows = list.map { kind.row($0, room, isSandbox) }
        let next = answer["next"]?.string.map { place.with("after", $0) }
        return """
            \(Markup.environment(isSandbox: isSandbox, other: other))
            \(Markup.table(kind.columns, rows, ifEmpty: kind.empty))
            \(Markup.more(next, "The next ones"))
            """
    }
}

extension ListPage.Kind {
    static let unclaimed = ListPage.Kind(
        title: "Purchases without a customer", path: "/unclaimed", member: "purchases",
        empty: "Every purchase that stores have reported belongs to a customer.",
        columns: [
            "Purchase", "Product", "Bought", "Paid until", "Waiting since", "Account tokens", "Do",
        ]
    ) { purchase, room, isSandbox in
        let tokens: [Markup] = (purchase["tokens"]?.array ?? []).map { .code($0.string) }
        return [
            .code(purchase["purchase"]?.string), .text(purchase["product"]?.string ?? ""),
            .time(purchase["purchased"]?.string), .time(purchase["expires"]?.string),
            .time(purchase["since"]?.string), "\(tokens)",
            AttachPlace.form(purchase["purchase"]?.string ?? "", in: room, isSandbox: isSandbox),
        ]
    }

    static let refunds = ListPage.Kind(
        title: "Requested refunds", path: "/refund_requests", member: "requests",
        empty: "The store is not waiting for an answer about a refund.",
        columns: ["Purchase", "Customer", "Product", "Reason", "Requested", "Answer by"]
    ) { request, room, isSandbox in
        let customer: Markup =
            request["customer"]?.string.map {
                Markup.link(NamedStream(room, $0, isSandbox: isSandbox).place, $0)
            } ?? "none"
        return [
            .code(request["purchase"]?.string), customer,
            .text(request["product"]?.string ?? ""),
            .text((request["reason"]?.string ?? "").spaced),
            .time(request["requested_at"]?.string), .time(request["answer_by"]?.string),
        ]
    }
}
