import API
import Core
import JSON
import Minting
import Service
import TestSupport
import Testing

@Suite("Intake in the console", .timeLimit(.minutes(20)))
struct IntakePageTests {
    private static let home = "/console/p/default"

    private let desk: Desk
    private let browser: Browser

    init() throws {
        desk = try Desk()
        browser = try desk.visitor("ann@example.com", .admin)
    }

    @Test("The list has the states, and says when there is nothing")
    func empty() throws {
        let page = browser.get("\(IntakePageTests.home)/intake").text
        #expect(page.contains("No evidence is in this state."))
        #expect(
            page.contains("<a href=\"\(IntakePageTests.home)/intake?state=refused\">refused</a>"))
        #expect(browser.get("\(IntakePageTests.home)/intake?state=odd").status == 200)
        #expect(page.contains("<a href=\"\(IntakePageTests.home)/intake\">Intake</a>"))
    }

    @Test("The list shows a hundred items at a time, and leads to the next ones")
    func pages() throws {
        for number in 100..<301 {
            let item = try IntakeItem.test(number, at: desk.service.clock.now)
            _ = try #require(try desk.service.intake.queue.addIntake(item, [1]))
        }
        var (seen, counts): (Set<String>, [Int]) = ([], [])
        var place: String? = "\(IntakePageTests.home)/intake"
        while let next = place {
            let page = browser.get(next).text
            let found = page.matches(of: #/href="[^"]+/intake/(i_\d+)"/#).map { String($0.1) }
            seen.formUnion(found)
            counts.append(found.count)
            let link = page.firstMatch(of: #/<a href="([^"]+)">The next ones</#)
            place = link.map { String($0.1).unescaped }
        }
        #expect(counts == [100, 100, 1] && seen.count == 201)
        #expect(browser.get("\(IntakePageTests.home)/intake?after=i_none").status == 404)
    }

    @Test("An item is dropped, judged again and settled by a person with a reason")
    func decisions() throws {
        let item = try IntakeItem.test(1, at: desk.service.clock.now)
        _ = try #require(try desk.service.intake.queue.addIntake(item, [1]))
        let id = item.id.text
        let place = "\(IntakePageTests.home)/intake/\(id)"
        let list = browser.get("\(IntakePageTests.home)/intake").text
        #expect(list.contains("<a href=\"\(place)\">\(id)</a>"), "\(list)")
        for (act, state) in [("drop", "dropped"), ("retry", "waiting"), ("settle", "settled")] {
            _ = browser.get(place)
            let done = browser.post(place, ["act": act, "reason": "why \(act)", "ticket": "T-4"])
            #expect(done.status == 303, "\(act): \(done.text.shown)")
            let page = browser.get(try #require(done.header("Location"))).text.shown
            #expect(page.contains("State \(state)"), "\(page)")
            #expect(page.contains("Reason why \(act)") && page.contains("Ticket T-4"), "\(page)")
        }
        for fields in [["act": "settle"], ["act": "odd", "reason": "x"], ["reason": "x"]] {
            #expect(browser.post(place, fields).status == 400, "\(fields)")
        }
        #expect(browser.get("\(place)0").status == 404)
    }
}
