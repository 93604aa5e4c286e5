import API
import Core
import HTTPServer
import JSON

/// The evidence stored about a customer: a list, or one piece with the result of a new verification.
struct EvidencePage: ShownPage {
    private let stream: NamedStream
    private let fields: Fields

    private var room: ProjectRoom { stream.room }

    /// Takes the customer from the second argument in the page's address.
    init(_ room: ProjectRoom, _ visit: Visit) throws(Turned) {
        stream = try NamedStream(room, visit)
        fields = Fields(visit.query)
    }

    func response() throws(Turned) -> Response {
        if let digest = fields["evidence"] { return try proof(of: digest) }
        guard let event = fields["event"] else { return try list() }
        let found = try list(("event", event))["evidence"]?.array?.first
        guard let digest = found?["evidence"]?.string else {
            throw .notice(
                404, "No evidence",
                "This event has no evidence of its own. The customer's page lists all stored evidence."
            )
        }
        return try proof(of: digest)
    }

    /// Returns the bytes of a piece of evidence as a file to save. The third argument in the
    /// address names the piece.
    static func file(_ room: ProjectRoom, _ visit: Visit) throws(Turned) -> Response {
        let stream = try NamedStream(room, visit)
        let digest = visit.arguments[2]
        let call = InnerCall(
            "GET", stream.path("/evidence/\(percentEncoded(digest))/bytes"),
            query: stream.query())
        let bytes = try turning { () throws(Problem) in
            try room.calls.file(call, by: room.caller)
        }
        // The digest needs no escaping: the call has found the piece, so it contains only digits
        // and letters.
        return Response(
            status: 200,
            headers: [
                Header("Content-Type", "application/octet-stream"),
                Header(
                    "Content-Disposition",
                    "attachment; filename=\"evidence-\(digest.prefix(12)).bin\""),
            ] + Page.guards, body: bytes)
    }

    private func list(_ parameter: (name: String, value: String?)) throws(Turned) -> JSON {
        let call = InnerCall("GET", stream.path("/evidence"), query: stream.query(parameter))
        return try turning { () throws(Problem) in try room.send(call) }
    }

    private func list() throws(Turned) -> Response {
        let answer = try list(("after", fields["after"]))
        let pieces = answer["evidence"]?.array ?? []
        let next = answer["next"]?.string.map { stream.below("evidence").with("after", $0) }
        let table = Markup.table(
            ["Evidence", "App", "Said at", "Recorded"], pieces.map(row),
            ifEmpty: "No evidence is stored for this customer.")
        return page("Evidence", "\(table)\(Markup.more(next, "The next ones"))")
    }

    private func row(_ piece: JSON) -> [Markup] {
        let place = stream.below("evidence").with("evidence", piece["evidence"]?.string)
        return [
            .link(place, "Prove this \((piece["kind"]?.string ?? "").spaced) again"),
            .text(piece["app"]?.string ?? ""), .time(piece["signed_at"]?.string),
            .time(piece["recorded_at"]?.string),
        ]
    }

    private func proof(of digest: String) throws(Turned) -> Response {
        let path = stream.path("/evidence/\(percentEncoded(digest))")
        let call = InnerCall("GET", path, query: stream.query())
        let piece = try turning { () throws(Problem) in try room.send(call) }
        return page("Evidence, verified again", content(piece))
    }

    private func content(_ piece: JSON) -> Markup {
        let digest = piece["evidence"]?.string ?? ""
        let file = stream.path("/evidence/\(percentEncoded(digest))/bytes")
        let saving: Markup =
            room.maySee(file) && piece["kept"]?.bool == true
            ? "<p>\(Markup.link(stream.below("evidence", digest, "file"), "Save the bytes"))</p>"
            : .nothing
        let subjects = (piece["subjects"]?.array ?? []).compactMap(\.string)
        let more = piece["more_subjects"]?.integer ?? 0
        let stated = subjects + (more > 0 ? ["\(more) more"] : [])
        return """
            \(verdict(piece))
            \(Markup.terms([
                ("Kind", .text((piece["kind"]?.string ?? "").spaced)),
                ("App", .text(piece["app"]?.string ?? "")),
                ("Said at", .time(piece["signed_at"]?.string)),
                ("Recorded", .time(piece["recorded_at"]?.string)),
                ("It states", .text(stated.joined(separator: ", "))),
                ("SHA-256", .code(digest)),
            ]))
            \(saving)
            """
    }

    private func verdict(_ piece: JSON) -> Markup {
        let store = piece["store"]?.string == "google" ? "Google" : "Apple"
        switch piece["outcome"]?.string {
        case "proven" where piece["signed"]?.bool == true:
            return """
                <p class="notice done" role="status">Verified: \(store) signed this evidence, as today's roots confirm.</p>
                """
        case "proven":
            return """
                <p class="notice done" role="status">Intact: these are the bytes of \(store)'s answer to Deed. Such an answer has no signature.</p>
                """
        case "refused":
            return """
                <p class="notice" role="alert">Not verified: \(piece["detail"]?.string ?? "")</p>
                """
        case "digest_only":
            return """
                <p class="notice" role="status">Only the digest of this evidence is stored, so there is nothing to verify.</p>
                """
        default:
            return """
                <p class="notice" role="alert">This is not the evidence that Deed believed: the database was changed or is damaged. An operator can investigate with: deed audit</p>
                """
        }
    }

    private func page(_ title: String, _ content: Markup) -> Response {
        Page(
            title: title, visitor: room.visitor, room: room,
            content: """
                <p>Customer \(Markup.link(stream.place, stream.customer)) in \(stream.environment).</p>
                \(content)
                """
        ).response()
    }
}
