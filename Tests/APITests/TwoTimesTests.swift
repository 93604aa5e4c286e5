import Core
import Minting
import Service
import TestSupport
import Testing

@Suite("A test clock beside the machine's clock")
struct TwoTimesTests {
    private let front: Storefront
    private let machine = TestClock()
    private let beside: TestService

    init() throws {
        front = try Storefront()
        beside = try TestService(beside: front.service, machineClock: machine)
    }

    private func signed(_ transaction: String, days: Int64) -> Sale {
        Sale(transaction, "level2", .nonConsumable, at: front.daysAgo(-days))
    }

    @Test("Evidence signed today is accepted by a clock that has stood still since yesterday")
    func machineAhead() throws {
        let evidence = front.signed([signed("1", days: 1)])
        #expect(try front.submit(evidence).outcomes == ["queued"])
        #expect(try front.submit(evidence, through: beside).outcomes == ["queued"])
        machine.advance(byMilliseconds: 86_400_000)
        #expect(try front.submit(evidence, through: beside).outcomes == ["recorded"])
    }

    @Test("Evidence signed near a test clock that is ahead is accepted, and nothing later")
    func testAhead() throws {
        front.service.clock.advance(byMilliseconds: 40 * 86_400_000)
        let now = front.signed([signed("1", days: 0)])
        #expect(try front.submit(now, through: beside).outcomes == ["recorded"])
        let later = front.signed([signed("2", days: 1)])
        #expect(try front.submit(later, through: beside).outcomes == ["queued"])
    }

    @Test("Keys are looked up again as the machine's time passes, whatever the test clock shows")
    func keys() throws {
        for number in 0..<60 {
            let digest = beside.keys.digest(of: "deed_admin_\(number)")
            #expect(try beside.keys.find(digest) == nil)
        }
        let made = try front.service.key(.admin)
        let digest = beside.keys.digest(of: made.text)
        #expect(try beside.keys.find(digest) == nil)
        front.service.clock.advance(byMilliseconds: 10_000)
        #expect(try beside.keys.find(digest) == nil)
        machine.advance(byMilliseconds: 1000)
        #expect(try beside.keys.find(digest)?.key == made.key)
    }
}
