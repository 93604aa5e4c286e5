package import Postgres

// What is asked of stores, and with what.
extension Statement {
    package static let findCredentials = Statement(
        name: "find_credentials", embedded: PackageResources.find_credentials_sql)
    package static let putCredentials = Statement(
        name: "put_credentials", embedded: PackageResources.put_credentials_sql)
    package static let forgetCredentials = Statement(
        name: "forget_credentials", embedded: PackageResources.forget_credentials_sql)
    package static let findRealStore = Statement(
        name: "find_real_store", embedded: PackageResources.find_real_store_sql)
    package static let takeStoreBudget = Statement(
        name: "take_store_budget", embedded: PackageResources.take_store_budget_sql)
    package static let restStoreBudget = Statement(
        name: "rest_store_budget", embedded: PackageResources.rest_store_budget_sql)
    package static let listDueInquiries = Statement(
        name: "list_due_inquiries", embedded: PackageResources.list_due_inquiries_sql)
    package static let findHistory = Statement(
        name: "find_history", embedded: PackageResources.find_history_sql)
    package static let keepHistory = Statement(
        name: "keep_history", embedded: PackageResources.keep_history_sql)
    package static let findNotificationMark = Statement(
        name: "find_notification_mark", embedded: PackageResources.find_notification_mark_sql)
    package static let markNotifications = Statement(
        name: "mark_notifications", embedded: PackageResources.mark_notifications_sql)
}
