import Core
import JSON

extension StatusPart {
    private static let month: Int64 = 30 * 86_400_000

    /// Returns the keys that will expire soon.
    static func keys(
        _ states: [(project: ProjectID, state: ProjectState?)], now: Instant
    ) -> StatusPart {
        var lines: [StatusLine] = []
        var members: [JSON] = []
        for case (let project, let state?) in states {
            for key in state.keys where key.end(by: now) == nil {
                guard let end = key.limits.expires,
                    end <= now.advanced(byMilliseconds: month)
                else { continue }
                let left = span(end.milliseconds - now.milliseconds)
                // The remedy depends on whether another key already replaces this one.
                let remedy =
                    key.rotated == nil
                    ? "deed key rotate \(key.id) --project \(project) --expires P365D" : nil
                let name = key.created.name.isEmpty ? "" : " (\(key.created.name))"
                lines.append(
                    StatusLine("\(key.id)\(name) of \(project) expires in \(left)", remedy: remedy))
                members.append([
                    "project": .string(project.text), "key": .string(key.id.text),
                    "name": .string(key.created.name), "ends_at": .string(end.text),
                    "rotated": .bool(key.rotated != nil),
                ])
            }
        }
        if lines.isEmpty { lines = [StatusLine("none expires within 30 days")] }
        return StatusPart("keys", lines, [("ending_keys", .array(members))])
    }
}
