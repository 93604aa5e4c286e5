package import Postgres

// What is asked of stores, and with what.
extension Statement {
    package static let findCredentials = Statement(
        name: "find_credentials", embedded: PackageResources.find_credentials_sql)
    package static let putCredentials = Statement(
        name: "put_credentials", embedded: PackageResources.put_credentials_sql)
    package static let forgetCredentials = Statement(
        name: "forget_credentials", embedded: PackageResources.forget_credentials_sql)
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
    package static let fillHistoryQuestions = Statement(
        name: "fill_history_questions", embedded: PackageResources.fill_history_questions_sql)
    package static let countHistoryCustomers = Statement(
        name: "count_history_customers", embedded: PackageResources.count_history_customers_sql)
    package static let countHistoryQuestions = Statement(
        name: "count_history_questions", embedded: PackageResources.count_history_questions_sql)
    package static let listHistoryQuestions = Statement(
        name: "list_history_questions", embedded: PackageResources.list_history_questions_sql)
    package static let keepHistoryQuestion = Statement(
        name: "keep_history_question", embedded: PackageResources.keep_history_question_sql)
    package static let endHistoryQuestion = Statement(
        name: "end_history_question", embedded: PackageResources.end_history_question_sql)
    package static let findHistoryRound = Statement(
        name: "find_history_round", embedded: PackageResources.find_history_round_sql)
    package static let keepHistoryRound = Statement(
        name: "keep_history_round", embedded: PackageResources.keep_history_round_sql)
}
