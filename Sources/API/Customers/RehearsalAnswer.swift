import Core
package import JSON
package import Service

extension RehearsalAnswer {
    /// The answer to a call with `dry_run=1`.
    package var json: JSON {
        ["dry_run": true, "customers": .array(sides.map(\.json))]
    }
}

extension RehearsalAnswer.Side {
    fileprivate var json: JSON {
        [
            "customer": .string(stream.customer.text),
            "environment": .string(stream.environment.rawValue), "version": .integer(version),
            "before": before.json(of: stream), "after": after.json(of: stream),
        ]
    }
}

extension RehearsalAnswer.Standing {
    fileprivate func json(of stream: Stream) -> JSON {
        ["entitlements": entitlements.json(of: stream), "balances": balances.json]
    }
}
