import Core
import JSON
import Minting
import OpenAPI
import Service
import TestSupport
import Testing

@testable import API

/// Tries every route of the router with every kind of key. Each call is one that the right key may make.
@Suite("The permissions of each key", .timeLimit(.minutes(20)))
struct AuthorizationTests {
    let stage: Stage
    var front: Storefront { stage.front }

    init() throws {
        stage = try Stage(in: .production)
    }

    @Test("The table has every route of the router, with the role that the router requires")
    func complete() {
        let outlines = stage.front.service.router.outlines
        let routed = outlines.map { route in
            "\(route.method) \(route.pattern) \(route.roles?.map(\.rawValue) ?? [])"
        }
        let listed = stage.rows.map { row in
            "\(row.call) \(Role.allCases.filter { Self.may($0, row) }.map(\.rawValue))"
        }
        #expect(Set(listed) == Set(routed))
        #expect(listed.count == routed.count)
        // Calls about an environment are also tried in the other one.
        let about = outlines.filter { $0.parameters.contains("environment") }
            .map { "\($0.method) \($0.pattern)" }
        let tried = stage.rows.filter { $0.apart != nil }.map(\.call)
        #expect(Set(tried) == Set(about + Stage.namingInBody))
        // Calls with a dry run are rehearsed. That of a catalog shows no customer.
        let terms = outlines.filter { $0.parameters.contains("dry_run") }
            .map { "\($0.method) \($0.pattern)" }
        let rehearsed = stage.rows.filter { $0.rehearsed != nil }.map(\.call)
        #expect(Set(rehearsed + ["PUT /v1/catalog"]) == Set(terms))
        // Two calls send what they ask for in a body. Calls about webhooks have a separate table.
        let asking: Set = ["POST /v1/entitlements/query", "POST /v1/find"]
        let writing = outlines.filter {
            $0.method != "GET" && !$0.pattern.hasPrefix("/v1/webhooks")
        }
        .map { "\($0.method) \($0.pattern)" }.filter { !asking.contains($0) }
        #expect(Set(Stage.writes.map(\.call)) == Set(writing))
    }

    @Test("The table of writes has a reason and a ticket wherever the API's description does")
    func reasons() throws {
        let document = try JSON.read(String(decoding: OpenAPI.document, as: UTF8.self))
        for row in Stage.writes {
            let parts = row.call.split(separator: " ").map(String.init)
            let call = document["paths"]?[parts[1]]?[parts[0].lowercased()]
            let body = call?["requestBody"]?["content"]?["application/json"]?["schema"]
            let name = body?["$ref"]?.string?.split(separator: "/").last.map(String.init) ?? ""
            let members = document["components"]?["schemas"]?[name]?["properties"]
            let hasTicket = members?["ticket"] != nil
            #expect(hasTicket == (row.why != .nothing), "\(row.call)")
            // A spend has a reason without a ticket, because a game and no person gives it.
            if !hasTicket { continue }
            let hasReason = members?["reason"] != nil
            #expect(hasReason == (row.why == .reasonAndTicket), "\(row.call)")
        }
    }

    @Test("A call needs a live key whose role permits it")
    func roles() throws {
        let service = stage.front.service
        let revoked = try Role.allCases.map { role in
            let key = try service.key(role)
            try service.revoke(key)
            return key
        }
        let keys = try Role.allCases.map { ($0, try service.key($0)) }
        // Each unknown key would cost a database lookup, and lookups are limited.
        try service.keys.reload()
        let before = (stage.everything(), try service.eventCount())
        for row in stage.rows {
            guard row.role != nil else {
                // A call that needs no key ignores any key.
                let reply = stage.send(row, nil)
                #expect(reply.code?.hasPrefix("key_") != true, "\(row.call)")
                for key in revoked {
                    #expect(stage.send(row, key).status == reply.status, "\(row.call)")
                }
                continue
            }
            #expect(stage.send(row, nil).code == "key_missing", "\(row.call)")
            for key in revoked {
                let reply = stage.send(row, key)
                #expect(reply.status == 401 && reply.code == "key_unknown", "\(row.call)")
            }
            for (role, key) in keys where !Self.may(role, row) {
                Self.expectRefused(stage.send(row, key), "\(role) \(row.call)")
            }
        }
        #expect(stage.everything() == before.0)
        #expect(try service.eventCount() == before.1)
        for row in stage.rows {
            guard row.role != nil else { continue }
            for (role, key) in keys where Self.may(role, row) {
                let reply = stage.send(row, key)
                let codes = ["key_missing", "key_unknown", "role_insufficient"]
                #expect(!codes.contains(reply.code ?? ""), "\(role) \(row.call)")
                #expect(reply.status != 400, "\(row.call): \(reply.text)")
            }
        }
    }

    @Test("A key of another project reads nothing of this one, and changes nothing")
    func otherProject() throws {
        let service = stage.front.service
        try service.createProject("other")
        let others = try Role.allCases.map { ($0, try service.key($0, project: "other")) }
        stage.front.limit(by: others.first { $0.0 == .admin }?.1)
        let before = stage.everything()
        #expect(before.contains { $0.contains(Stage.mark) })
        for row in stage.rows {
            for (role, key) in others {
                guard row.role != nil else { continue }
                let reply = stage.send(row, key)
                if Self.may(role, row) {
                    let told = "\(role) \(row.call): \(reply.status) \(reply.text)"
                    #expect(reply.status == row.elsewhere, "\(told)")
                } else {
                    Self.expectRefused(reply, "\(role) \(row.call)")
                }
                stage.expectNothing(in: reply, row)
            }
        }
        #expect(stage.everything() == before)
    }

    @Test(
        "A call about one environment reads nothing of the other, and changes nothing there",
        arguments: Environment.allCases)
    func otherEnvironment(_ environment: Environment) throws {
        let stage = try Stage(in: environment)
        let keys = try Role.allCases.map { ($0, try stage.front.service.key($0)) }
        let before = stage.everything()
        #expect(before.contains { $0.contains(Stage.mark) })
        for row in stage.rows {
            for (role, key) in keys {
                guard row.role != nil, let apart = row.apart else { continue }
                let reply = stage.send(row, key, about: environment.other)
                if Self.may(role, row) {
                    let told = "\(role) \(row.call): \(reply.status) \(reply.text)"
                    #expect(reply.status == apart, "\(told)")
                } else {
                    Self.expectRefused(reply, "\(role) \(row.call)")
                }
                stage.expectNothing(in: reply, row)
            }
        }
        #expect(stage.everything() == before)
    }

    private static func expectRefused(_ reply: Reply, _ call: String) {
        #expect(reply.status == 403 && reply.code == "role_insufficient", "\(call)")
    }

    /// Support staff may do everything that readers may, and more. Each of the other roles may do
    /// everything that the previous one may.
    static func may(_ role: Role, _ row: Stage.Row) -> Bool {
        guard let least = row.role else { return false }
        if role == .support { return least == .reader || row.isForSupport }
        let order: [Role] = [.reader, .backend, .admin]
        return order.firstIndex(of: role) ?? -1 >= order.firstIndex(of: least) ?? 0
    }
}

extension Environment {
    fileprivate var other: Environment { self == .production ? .sandbox : .production }
}
