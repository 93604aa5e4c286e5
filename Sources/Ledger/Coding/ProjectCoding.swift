import CatalogFile
import Core
import Crypto
import JSON

extension ProjectCreated: PayloadCodable {
    var payload: JSON { ["project": .string(project.text)] }

    init(_ payload: Payload) throws {
        self.init(project: try payload.id("project"))
    }
}

extension KeyCreated: PayloadCodable {
    var payload: JSON {
        .members([
            "key": .id(key), "role": .string(role.rawValue), "name": .string(name),
            "digest": .string(digest), "expires_at": .instant(limits.expires),
            "environment": .text(limits.environment?.rawValue), "replaces": .id(replaced),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            key: try payload.id("key"), role: try payload.word("role"),
            name: try payload.text("name"), digest: try payload.text("digest"),
            limits: KeyLimits(
                expires: try payload.optionalInstant("expires_at"),
                environment: try payload.optionalWord("environment")),
            replacing: try payload.optionalID("replaces"))
    }
}

extension KeyRevoked: PayloadCodable {
    var payload: JSON {
        let head: JSON = [
            "key": .string(key.text), "digest": .string(digest), "at": .string(at.text),
        ]
        return head.with("reason", reason.map { .string($0.text) })
            .with("ticket", ticket.map { .string($0.text) })
    }

    init(_ payload: Payload) throws {
        self.init(
            key: try payload.id("key"), digest: try payload.text("digest"),
            at: try payload.instant("at"), reason: try payload.optionalID("reason"),
            ticket: try payload.optionalID("ticket"))
    }
}

extension KeyRotated: PayloadCodable {
    var payload: JSON {
        [
            "key": .string(key.text), "digest": .string(digest),
            "successor": .string(successor.text), "expires_at": .string(expires.text),
        ]
    }

    init(_ payload: Payload) throws {
        self.init(
            key: try payload.id("key"), digest: try payload.text("digest"),
            successor: try payload.id("successor"), expires: try payload.instant("expires_at"))
    }
}

extension LogAccepted: PayloadCodable {
    var payload: JSON {
        .members([
            "acceptance": .id(acceptance), "reason": .id(reason), "ticket": .id(ticket),
        ])
    }

    init(_ payload: Payload) throws {
        self.init(
            acceptance: try payload.id("acceptance"), reason: try payload.id("reason"),
            ticket: try payload.optionalID("ticket"))
    }
}

extension CatalogChanged: PayloadCodable {
    var payload: JSON {
        .members([
            "version": .integer(version), "digest": .text(digest?.hex),
            "catalog": catalog.map(CatalogFile.json), "reason": .id(reason), "ticket": .id(ticket),
        ])
    }

    init(_ payload: Payload) throws {
        let version = try payload.integer("version")
        let reason: Reason? = try payload.optionalID("reason")
        let ticket: Ticket? = try payload.optionalID("ticket")
        if let text = try payload.optionalText("digest") {
            guard let digest = Digest32(hex: text) else { throw Payload.Misfit(name: "digest") }
            self.init(version: version, digest: digest.bytes, reason: reason, ticket: ticket)
            return
        }
        guard let file = payload.value["catalog"] else { throw Payload.Misfit(name: "catalog") }
        self.init(
            version: version, catalog: try CatalogFile.recorded(file), reason: reason,
            ticket: ticket)
    }
}
