package import Core

extension IntakeItem {
    /// Returns an item with its own evidence, which depends on `number`.
    package static func test(
        _ number: Int, project: String = "default", purpose: IntakeWish.Purpose? = nil,
        kind: String = "app_receipt", at now: Instant
    ) throws -> IntakeItem {
        let heading = EvidenceHeading(
            digest: [UInt8](repeating: 0, count: 24)
                + (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) },
            kind: kind, environment: .sandbox, app: try AppID("com.example.app"))
        let wish = IntakeWish(
            project: try ProjectID(project), purpose: try purpose ?? .submit(CustomerID("u1")),
            order: nil, heading: heading)
        return IntakeItem(try IntakeID("i_\(number)"), wish, now: now)
    }
}
