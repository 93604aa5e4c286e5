package import Core

extension Command {
    package static func give(
        _ entitlement: String, to stream: Stream, grant: String, key: String? = nil,
        reason: String = "test", digest: UInt8 = 0
    ) throws -> Command {
        let wish = GiveGrant(
            grant: try GrantID(grant), entitlement: try EntitlementID(entitlement),
            time: .from(nil, until: .never), reason: try Reason(reason), ticket: nil)
        return .customer(
            stream, actor: try Actor("test"),
            cause: Cause(
                text: "key:\(key ?? grant)", digest: [UInt8](repeating: digest, count: 32))
        ) { state, catalog, now throws(Refusal) in
            try state.decide(wish, by: catalog, now: now)
        }
    }

    package static func revoke(
        _ grant: String, of stream: Stream, key: String
    ) throws -> Command {
        let wish = RevokeGrant(grant: try GrantID(grant), reason: try Reason("test"), ticket: nil)
        return .customer(
            stream, actor: try Actor("test"),
            cause: Cause(text: "key:\(key)", digest: [UInt8](repeating: 0, count: 32))
        ) { state, catalog, now throws(Refusal) in
            try state.decide(wish, by: catalog, now: now)
        }
    }
}

extension Stream {
    package static func test(
        _ customer: String, project: String = "default", environment: Environment = .production
    ) throws -> Stream {
        Stream(
            project: try ProjectID(project), environment: environment,
            customer: try CustomerID(customer))
    }
}
