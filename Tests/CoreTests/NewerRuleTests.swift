import Core
import Histories
import Testing

/// Tests facts that the store first reported in 2025 and 2026. Days count from 1 January 2026.
@Suite("The rules of access for newer things")
struct NewerRuleTests {
    static let strangers: [WorkedExample] = [
        WorkedExample(
            "A kind that is not known here is what the catalog says that the product is", "level2",
            [facts([transaction("1", "level2", nil, at(3)) { $0.unknownKind = "Lease" }])],
            [Boundary(at(3), "no upcoming 0.0", "yes active 3.0")]),
        WorkedExample(
            "What expires and is of an unknown kind is a subscription", "pro",
            [
                facts([
                    transaction("1", "pro", nil, at(0), to: at(30)) { $0.unknownKind = "Suite" }
                ])
            ],
            [
                Boundary(at(0), "no upcoming 0.0", "yes active 5.0"),
                Boundary(at(30), "yes active 5.0", "no expired 0.0"),
            ]),
        WorkedExample(
            "What was given in a way that is not known here counts like a purchase", "solo",
            [
                facts([
                    transaction("1", "solo", .autoRenewable, at(0), to: at(30)) {
                        $0.ownership = .unknown("ASSIGNED")
                    }
                ])
            ],
            [Boundary(at(0), "no upcoming 0.0", "yes active 5.0")]),
        WorkedExample(
            "What is taken back for a reason that is not known here is taken back", "pro",
            [
                facts([
                    transaction("1", "pro", .autoRenewable, at(0), to: at(30), signed: at(9)) {
                        $0.revocation = refund(
                            at: at(8), .unknown("ASSIGNMENT"), .unknown("UPGRADED_TO_BUNDLE"))
                    }
                ])
            ],
            [Boundary(at(8), "yes active 5.0", "no revoked -8.0")]),
    ]

    @Test("Things that this release does not know", arguments: strangers)
    func stranger(_ example: WorkedExample) { example.check() }

    static let items: [WorkedExample] = [
        WorkedExample(
            "A product that stands for others gives what each of them unlocks", "solo",
            [
                facts([
                    transaction("1", "anything", .autoRenewable, at(0), to: at(30)) {
                        $0.items = [SoldItem(id("plus")), SoldItem(id("solo"))]
                    }
                ])
            ],
            [
                Boundary(at(0), "no upcoming 0.0", "yes active 5.0"),
                Boundary(at(30), "yes active 5.0", "no expired 0.0"),
            ]),
        WorkedExample(
            "One of them is taken back alone", "ad_free", itemTakenBack,
            [Boundary(at(12), "yes active 5.0", "no revoked -8.0")]),
        WorkedExample(
            "and the other one stays", "solo", itemTakenBack,
            [
                Boundary(at(12), "yes active 5.0", "yes active 5.0"),
                Boundary(at(30), "yes active 5.0", "no expired 0.0"),
            ]),
        WorkedExample(
            "The whole is taken back with all of them", "solo",
            [
                facts([
                    transaction("1", "anything", .autoRenewable, at(0), to: at(30), signed: at(9)) {
                        $0.items = [SoldItem(id("plus")), SoldItem(id("solo"))]
                        $0.revocation = refund(at: at(8))
                    }
                ])
            ],
            [Boundary(at(8), "yes active 5.0", "no revoked -8.0")]),
        WorkedExample(
            "What is kept for ever may be one of them, and be taken back", "level2",
            [
                facts([
                    transaction("1", "anything", .nonConsumable, at(3), signed: at(9)) {
                        $0.items = [SoldItem(id("level2"), revokedAt: at(8))]
                    }
                ])
            ],
            [
                Boundary(at(3), "no upcoming 0.0", "yes active 3.0"),
                Boundary(at(8), "yes active 3.0", "no revoked -8.0"),
            ]),
        WorkedExample(
            "A family member has those that the catalog allows", "solo",
            [
                facts([
                    transaction("1", "anything", .autoRenewable, at(0), to: at(30)) {
                        $0.items = [SoldItem(id("plus")), SoldItem(id("solo"))]
                        $0.ownership = .familyShared
                    }
                ])
            ],
            [Boundary(at(0), "-", "-")]),
    ]

    static let itemTakenBack = [
        facts([
            transaction("1", "anything", .autoRenewable, at(0), to: at(30), signed: at(13)) {
                $0.items = [SoldItem(id("plus"), revokedAt: at(12)), SoldItem(id("solo"))]
            }
        ]),
        facts([
            transaction("1", "anything", .autoRenewable, at(0), to: at(30)) {
                $0.items = [SoldItem(id("plus")), SoldItem(id("solo"))]
            }
        ]),
    ]

    @Test("A product that stands for others", arguments: items)
    func item(_ example: WorkedExample) { example.check() }
}
