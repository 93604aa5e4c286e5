package import Core

/// Commands about grants, for tests.
extension Command {
    package static func give(
        _ entitlement: String, to stream: Stream, grant: String, key: String? = nil,
        reason: String = "test", digest: UInt8 = 0
    ) throws -> Command {
        let wish = GiveGrant(
            grant: try GrantID(grant), entitlement: try EntitlementID(entitlement), start: nil,
            end: .never, reason: try Reason(reason), ticket: nil)
        return .customer(
            stream, actor: try Actor("test"),
            cause: Cause(
                text: "key:\(key ?? grant)", digest: [UInt8](repeating: digest, count: 32))
        ) { state, _, now throws(Refusal) in
            try state.decide(wish, now: now)
        }
    }

    package static func revoke(
        _ grant: String, of stream: Stream, key: String
    ) throws -> Command {
        let wish = RevokeGrant(grant: try GrantID(grant), reason: try Reason("test"), ticket: nil)
        return .customer(
            stream, actor: try Actor("test"),
            cause: Cause(text: "key:\(key)", digest: [UInt8](repeating: 0, count: 32))
        ) { state, _, now throws(Refusal) in
            try state.decide(wish, now: now)
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

/// Random numbers that are the same for the same seed.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
