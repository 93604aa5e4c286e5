import Core
import JSON
import Service
import TestSupport
import Testing

@testable import API

/// Tests the same table of routes with expired keys and with keys bound to one environment.
extension AuthorizationTests {
    @Test("A key that has ended opens no route, whatever its role was")
    func expired() throws {
        let service = stage.front.service
        let keys = try Role.allCases.map { role in
            try service.key(role, ending: .after(try #require(CalendarDuration("PT1H"))))
        }
        try service.keys.reload()
        service.clock.advance(byMilliseconds: 3_600_000 - 1)
        for key in keys { #expect(stage.send(stage.rows[0], key).status == 200) }
        service.clock.advance(byMilliseconds: 1)
        let before = (stage.everything(), try service.eventCount())
        for row in stage.rows {
            let open = row.role == nil ? stage.send(row, nil).status : 401
            for key in keys {
                let reply = stage.send(row, key)
                #expect(reply.status == open, "\(row.call): \(reply.text)")
                if row.role != nil { #expect(reply.code == "key_expired", "\(row.call)") }
            }
        }
        #expect(stage.everything() == before.0)
        #expect(try service.eventCount() == before.1)
    }

    @Test(
        "A key of the other environment makes no call about this one, and changes nothing that both share",
        arguments: Environment.allCases)
    func ofOtherEnvironment(_ environment: Environment) throws {
        let stage = try Stage(in: environment)
        let service = stage.front.service
        let other: Environment = environment == .production ? .sandbox : .production
        let keys = try Role.allCases.map { ($0, try service.key($0, only: other)) }
        try service.keys.reload()
        let before = (stage.everything(), try service.eventCount())
        for row in stage.rows {
            if row.role == nil { continue }
            // A new webhook is for production by default, so a production key may create it.
            if row.call == "POST /v1/webhooks", environment == .sandbox { continue }
            for (role, key) in keys {
                let reply = stage.send(row, key)
                let told = "\(role) \(row.call): \(reply.status) \(reply.text)"
                if !Self.may(role, row) {
                    #expect(reply.code == "role_insufficient", "\(told)")
                } else if stage.concerns(row, environment) {
                    #expect(reply.status == 403, "\(told)")
                    #expect(reply.code == "environment_not_allowed", "\(told)")
                } else {
                    #expect(reply.code != "environment_not_allowed", "\(told)")
                    #expect(row.call.hasPrefix("GET ") || reply.status == 404, "\(told)")
                }
            }
        }
        #expect(stage.everything() == before.0)
        #expect(try service.eventCount() == before.1)
        // In its own environment, a bound key works like any other.
        for row in stage.rows {
            guard row.role != nil, let apart = row.apart else { continue }
            for (role, key) in keys where Self.may(role, row) {
                let reply = stage.send(row, key, about: other)
                #expect(reply.status == apart, "\(role) \(row.call): \(reply.text)")
                stage.expectNothing(in: reply, row)
            }
        }
        #expect(stage.everything() == before.0)
    }

    @Test(
        "A key of one environment does there what any key does",
        arguments: Environment.allCases)
    func ofOwnEnvironment(_ environment: Environment) throws {
        let stage = try Stage(in: environment)
        let keys = try Role.allCases.map {
            ($0, try stage.front.service.key($0, only: environment))
        }
        try stage.front.service.keys.reload()
        for row in stage.rows {
            if row.role == nil { continue }
            for (role, key) in keys where Self.may(role, row) {
                let reply = stage.send(row, key)
                let told = "\(role) \(row.call): \(reply.status) \(reply.text)"
                // A new webhook is for production by default.
                let isElsewhere = row.call == "POST /v1/webhooks" && environment == .sandbox
                let isRefused = stage.changesShared(row) || isElsewhere
                #expect((reply.code == "environment_not_allowed") == isRefused, "\(told)")
                #expect(reply.status != 400, "\(told)")
            }
        }
    }
}

extension Stage {
    private static let byID = ["/v1/intake/"]

    /// Returns whether the call concerns data of this environment. A key of the other environment must not make it.
    fileprivate func concerns(_ row: Row, _ environment: Environment) -> Bool {
        if row.apart != nil || changesShared(row) { return true }
        if Stage.byID.contains(where: { row.call.contains($0) }) { return true }
        return row.call == "POST /v1/webhooks" && environment == .production
    }

    /// Returns whether the call changes something that both environments share, or concerns both.
    fileprivate func changesShared(_ row: Row) -> Bool {
        let ofBoth = ["/export", "/erase", "/merge", "/merge/undo"]
        if ofBoth.contains(where: row.call.hasSuffix) { return true }
        let parts = ["/catalog", "/settings", "/apps/", "/reconciliations", "/test/clock"]
        return !row.call.hasPrefix("GET ") && row.apart == nil
            && parts.contains { row.call.contains($0) }
    }
}
