import Core
import Crypto
import SQL

extension Table {
    static let projects = Table(
        "projects",
        [
            .text("project"), .instant("created_at"), .number("catalog_version"),
            .instant("reconciled_at"), .flag("is_sound"), .instant("requested_at"),
        ], key: ["project"],
        source: RowSource { origin in
            origin.project.exists ? [0] : []
        } changedBy: { event, _ in
            event.isAboutProjectItself ? 0 : nil
        } name: { _, origin in
            [.text(origin.stream.project.text)]
        } cells: { _, origin in
            let project = origin.project
            return [
                .instant(project.createdAt ?? .distantPast), .number(project.catalogVersion),
                .instant(project.reconciledAt), .flag(project.isSound),
                .instant(project.requestedReconciliation?.startedAt),
            ]
        })

    static let keys = Table(
        "keys",
        [
            .bytes("digest"), .text("project").owner, .text("key_id"), .text("role"),
            .text("name"), .instant("created_at"), .instant("revoked_at"), .instant("expires_at"),
            .text("environment"),
        ], key: ["digest"],
        source: RowSource { origin in
            origin.project.keys.compactMap(\.digest)
        } changedBy: { event, _ in
            event.key
        } name: { digest, origin in
            [.bytes(digest.bytes), .text(origin.stream.project.text)]
        } cells: { digest, origin in
            guard let key = origin.project.keys.first(where: { $0.digest == digest }) else {
                return nil
            }
            return [
                .text(key.id.text), .text(key.created.role.rawValue), .text(key.created.name),
                .instant(key.createdAt), .instant(key.revokedAt), .instant(key.limits.expires),
                .text(key.limits.environment?.rawValue),
            ]
        })

    /// The project that each app belongs to. Removals run first, because another project may
    /// register the same app in the same commit.
    static let apps = Table(
        "apps",
        [
            .text("store"), .text("app"), .text("project").owner, .number("apple_id"),
            .text("receipts"), .flag("counts_sandbox"),
        ], key: ["store", "app"], writing: .claiming(.claimApps),
        source: RowSource { origin in
            origin.project.apps.map(\.key)
        } changedBy: { event, _ in
            event.app
        } name: { key, origin in
            [.text(key.store.rawValue), .text(key.id.text), .text(origin.stream.project.text)]
        } cells: { key, origin in
            guard let app = origin.project.app(key) else { return nil }
            return [
                .number(app.appleID), .text(app.receipts.rawValue),
                .flag(app.sandboxAccess != .none),
            ]
        })
}

extension Key {
    fileprivate var digest: Digest32? { Digest32(hex: created.digest) }
}

extension Event {
    fileprivate var isAboutProjectItself: Bool {
        switch self {
        case .projectCreated, .catalogChanged, .reconciliationStarted, .reconciliationFinished:
            true
        default: false
        }
    }

    fileprivate var key: Digest32? {
        if case .key(let digest) = subject { Digest32(hex: digest) } else { nil }
    }

    fileprivate var app: AppKey? {
        if case .app(let key) = subject { key } else { nil }
    }
}
