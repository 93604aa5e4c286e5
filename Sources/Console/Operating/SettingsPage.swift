import API
import Core
import HTTPServer
import JSON

/// A project's settings, its apps and its keys.
struct SettingsPage: ShownPage {
    private let room: ProjectRoom
    private let settings: JSON
    private let keys: JSON
    /// The key that was just revoked.
    private let revoked: String?

    init(_ room: ProjectRoom, _ visit: Visit) throws(Turned) {
        self.room = room
        let fields = Fields(visit.query)
        revoked = fields["revoked"]
        let after = fields["after"].map { "&after=\(percentEncoded($0))" } ?? ""
        settings = try turning { () throws(Problem) in
            try room.send(InnerCall("GET", "/settings"))
        }
        keys = try turning { () throws(Problem) in
            try room.send(InnerCall("GET", "/keys", query: "limit=100\(after)"))
        }
    }

    func response() -> Response {
        Page(
            title: "Settings", visitor: room.visitor, room: room,
            content: "\(done)\n\(rules)\n\(apps)\n\(keyList)"
        ).response()
    }

    /// The message that a key was revoked. It appears only if the list of keys confirms this,
    /// because anyone can write such an address.
    private var done: Markup {
        let key = (keys["keys"]?.array ?? []).first { $0["id"]?.string == revoked }
        guard let revoked, key?["state"]?.string == "revoked" else { return .nothing }
        return
            "<p class=\"notice done\" role=\"status\">The key \(Markup.code(revoked)) is revoked.</p>"
    }

    private var rules: Markup {
        let members = settings["settings"]?.object?.members ?? []
        let rows = members.map { member -> [Markup] in
            [.text(member.name.spaced), .text(words(member.value))]
        }
        return .section(
            "rules", "Rules",
            """
            <p>An operator can change these with: <code>deed project set</code></p>
            \(Markup.table(["Setting", "Value"], rows))
            """)
    }

    private func words(_ value: JSON) -> String {
        switch value {
        case .null: "none"
        case .string(let text): text
        case .object(let object) where object.isEmpty: "none"
        case .object(let object):
            object.members.map { "\($0.name): \(words($0.value))" }.joined(separator: ", ")
        default: value.text
        }
    }

    private var apps: Markup {
        let all = settings["apps"]?.array ?? []
        if all.isEmpty {
            return .section(
                "apps", "Apps",
                "<p>There are no apps, so no purchase can be verified. An operator can add one with: <code>deed app set</code></p>"
            )
        }
        let rows = all.map { app -> [Markup] in
            let secrets = app["credentials"]
            let held = [
                secrets?["api_key"]?.bool == true ? "key for the store's API" : nil,
                secrets?["shared_secret"]?.bool == true ? "shared secret" : nil,
            ].compactMap(\.self)
            return [
                .code(app["bundle_id"]?.string), .text(app["store"]?.string ?? ""),
                .text(app["sandbox_access"]?.string ?? ""),
                .text(held.isEmpty ? "none" : held.joined(separator: ", ")),
            ]
        }
        return .section(
            "apps", "Apps",
            .table(["App", "Store", "Whose sandbox purchases count", "Credentials"], rows))
    }

    private var keyList: Markup {
        let all = keys["keys"]?.array ?? []
        let rows = all.map { key -> [Markup] in
            let state = key["state"]?.string ?? ""
            return [
                .code(key["id"]?.string), .badge(state, isGood: state == "live"),
                .text(key["role"]?.string ?? ""),
                .text(key["name"]?.string ?? ""), .text(key["environment"]?.string ?? "both"),
                .time(key["created_at"]?.string), .time(key["expires_at"]?.string),
                .time(key["last_used_at"]?.string), revoking(key),
            ]
        }
        let next = keys["next"]?.string.map { room.settings.with("after", $0) }
        return .section(
            "keys", "Keys",
            """
            <p>An operator creates and rotates keys with: <code>deed key</code></p>
            \(Markup.table(["Key", "State", "Role", "Name", "Environment", "Made", "Ends", "Last used", "Do"], rows))
            \(Markup.more(next, "The next ones"))
            """)
    }

    private func revoking(_ key: JSON) -> Markup {
        guard let id = key["id"]?.string, key["state"]?.string == "live" else { return .nothing }
        return .link(room.settings.below("keys", id, "revoke"), "Revoke \(id)")
    }
}
