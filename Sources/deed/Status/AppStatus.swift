import Core
import JSON
import Ledger
import Service

extension StatusPart {
    static func apps(
        _ states: [(project: ProjectID, state: ProjectState?)], _ done: [LastDone],
        _ budgets: [(place: String, usedFor: Int64, restsFor: Int64)],
        _ statuses: (ProjectID) -> [AppKey: CredentialsStatus]
    ) -> StatusPart {
        var lines: [StatusLine] = []
        var members: [JSON] = []
        for case (let project, let state?) in states {
            let kept = statuses(project)
            for app in state.apps {
                let place = "\(project) \(app.key.store.rawValue) \(app.key.id)"
                let news = done.first {
                    $0.what == NoteName.news(of: StoreApp(project: project, key: app.key))
                }
                let used = budgets.filter { $0.place.hasPrefix("\(place) ") }
                let rests = used.contains { $0.restsFor > 0 }
                lines.append(
                    StatusLine(
                        "\(place): "
                            + (kept[app.key]?.hasKey == true ? "has a key" : "no key")
                            + ", last notification "
                            + (news.map { "\(span($0.ago)) ago" } ?? "never")
                            + (rests ? ", the store has asked for a pause" : "")))
                members.append([
                    "project": .string(project.text), "store": .string(app.key.store.rawValue),
                    "app": .string(app.key.id.text),
                    "has_key": .bool(kept[app.key]?.hasKey == true),
                    "has_shared_secret": .bool(kept[app.key]?.hasSharedSecret == true),
                    "last_notification_at": .optional(news?.doneAt.text),
                    "calls": .array(
                        used.map {
                            [
                                "call": .string(String($0.place.dropFirst(place.count + 1))),
                                "used_for_milliseconds": .integer($0.usedFor),
                                "rests_for_milliseconds": .integer($0.restsFor),
                            ]
                        }),
                ])
            }
        }
        if lines.isEmpty { lines = [StatusLine("none")] }
        return StatusPart("apps", lines, [("apps", .array(members))])
    }

    /// Returns the database's size, its growth over recent samples, and how long the free space will last.
    static func storage(_ bytes: Int64, _ done: [LastDone], free: Int64?) -> StatusPart {
        let samples = StorageSample.all(in: done)
        let now = done.first { $0.what == StorageSample.what }
            .map { $0.doneAt.milliseconds + $0.ago }
        var growth: Int64?
        if let first = samples.first, let now, now - first.at >= 86_400_000 {
            growth = max(0, bytes - first.bytes) * 86_400_000 / (now - first.at)
        }
        let days = free.flatMap { free in growth.flatMap { $0 > 0 ? free / $0 : nil } }
        let words = [
            bytesText(bytes), growth.map { "\(bytesText($0)) more each day" },
            free.map { "\(bytesText($0)) free" }, days.map { "full in \($0) days" },
        ]
        let isShort = days.map { $0 < 30 } ?? false
        return StatusPart(
            "storage",
            [
                StatusLine(
                    words.compactMap(\.self).joined(separator: ", "),
                    remedy: isShort ? "give the database more disk space" : nil)
            ],
            [
                (
                    "storage",
                    [
                        "bytes": .integer(bytes),
                        "bytes_a_day": growth.map { JSON.integer($0) } ?? .null,
                        "free_bytes": free.map { JSON.integer($0) } ?? .null,
                        "days_until_full": days.map { JSON.integer($0) } ?? .null,
                    ]
                )
            ])
    }
}

/// The database's size at an instant.
struct StorageSample {
    static let what = "storage"

    let at: Int64
    let bytes: Int64

    static func all(in done: [LastDone]) -> [StorageSample] {
        let says = done.first { $0.what == what }.flatMap { try? JSON.read($0.says) }
        return (says?["samples"]?.array ?? []).compactMap { sample in
            guard let at = sample["at"]?.integer, let bytes = sample["bytes"]?.integer else {
                return nil
            }
            return StorageSample(at: at, bytes: bytes)
        }
    }
}
