import Core
import Histories
import Service
import TestSupport
import Testing

@testable import Jobs

@Suite("The job that publishes boundaries")
struct BoundaryJobTests {
    @Test("Customers who are to blame rest for five seconds, and are a failure for as long")
    func resting() throws {
        let fault = Fault.broken("the reason")
        var publication = Publication(customers: 9, notices: 7)
        publication.fault = fault
        publication.blamed = [try .test("u3"), try .test("u50")]
        var customers = RestingCustomers()
        #expect(customers.resting(at: 1000).isEmpty)
        #expect(customers.add(publication, at: 1000) == fault)
        #expect(customers.resting(at: 5999) == publication.blamed)
        #expect(customers.add(Publication(), at: 5999) == fault)
        #expect(customers.resting(at: 6000).isEmpty)
        #expect(customers.add(Publication(), at: 6000) == nil)
    }
}
