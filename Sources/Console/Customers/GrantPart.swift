import JSON

/// The customer's grants.
struct GrantPart {
    let look: CustomerLook

    var markup: Markup {
        let grants = look.whole["grants"]?.array ?? []
        if grants.isEmpty { return .nothing }
        // The answer lists the oldest grants first.
        let part = look.part(of: grants.reversed(), "grants")
        return .section(
            "grants", "Grants",
            """
            \(part.links)
            <div class="wide"><table>
            <thead><tr><th scope="col">Grant</th><th scope="col">Entitlement</th><th scope="col">From</th><th scope="col">Until</th><th scope="col">Reason</th><th scope="col">Ticket</th><th scope="col">Do</th></tr></thead>
            <tbody>
            \(part.shown.map(row))
            </tbody></table></div>
            """)
    }

    private func row(_ grant: JSON) -> Markup {
        let id = grant["id"]?.string ?? ""
        let revoked = grant["revoked_at"]?.string
        let end = self.end(grant["end"]?.string, revoked)
        let acts: Markup = revoked == nil ? links(id) : .nothing
        return """
            <tr><th scope="row"><code>\(id)</code></th><td>\(grant["entitlement"]?.string ?? "")</td>
            <td>\(Markup.time(grant["start"]?.string))</td><td>\(end)</td>
            <td>\(grant["reason"]?.string ?? "")</td><td>\(grant["ticket"]?.string ?? "")</td><td>\(acts)</td></tr>
            """
    }

    private func end(_ end: String?, _ revoked: String?) -> Markup {
        if let revoked { return "revoked at \(Markup.time(revoked))" }
        return end.map { Markup.time($0) } ?? "its revocation"
    }

    private func links(_ id: String) -> Markup {
        guard Act.revoke.isAllowed(in: look.stream.room) else { return .nothing }
        return """
            \(Markup.link(look.stream.below("grants", id, "change"), "Change"))
            \(Markup.link(look.stream.below("grants", id, "revoke"), "Revoke"))
            """
    }
}
