import CatalogFile
import Core
import JSON

extension ProjectCreated: PayloadCodable {
    var payload: JSON { ["project": .string(project.text)] }

    init(_ payload: Payload) throws {
        self.init(project: try payload.id("project"))
    }
}

extension KeyCreated: PayloadCodable {
    var payload: JSON {
        [
            "key": .string(key.text), "role": .string(role.rawValue), "name": .string(name),
            "digest": .string(digest),
        ]
    }

    init(_ payload: Payload) throws {
        self.init(
            key: try payload.id("key"), role: try payload.word("role"),
            name: try payload.text("name"), digest: try payload.text("digest"))
    }
}

extension KeyRevoked: PayloadCodable {
    var payload: JSON {
        ["key": .string(key.text), "digest": .string(digest), "at": .string(at.text)]
    }

    init(_ payload: Payload) throws {
        self.init(
            key: try payload.id("key"), digest: try payload.text("digest"),
            at: try payload.instant("at"))
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
    var payload: JSON { ["version": .integer(version), "catalog": CatalogFile.json(catalog)] }

    init(_ payload: Payload) throws {
        guard let file = payload.value["catalog"] else { throw Payload.Misfit(name: "catalog") }
        self.init(
            version: try payload.integer("version"), catalog: try CatalogFile.recorded(file))
    }
}
