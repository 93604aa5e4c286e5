import TestSupport
import Testing

@Suite("Deliveries in any order")
struct DeliveryOrderTests {
    @Test(
        "Twelve steps of a life, shuffled, repeated and sent to two instances, end the same"
    )
    func anyOrder() throws {
        let front = try Storefront()
        let other = try TestService(beside: front.service)
        let course = DeliveryCourse(front.store, from: front.daysAgo(220), lives: 6)
        let complaints = try course.run {
            { method, path, body, service in
                let reply = front.send(
                    method, path, body, through: service == 0 ? nil : other)
                return (reply.status, reply.text)
            }
        }
        #expect(complaints == [])
    }
}
