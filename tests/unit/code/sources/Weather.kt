package weather

import kotlin.math.max

const val LIMIT = 10
val station: Station by lazy { Station("x") }

typealias Readings = List<Reading>

data class Reading(val time: Long, val degrees: Double)

sealed interface Report {
    data class Good(val text: String) : Report
    object Missing : Report
    fun words(): String
}

@Serializable
open class Station(private val name: String) : Source<Reading>() {
    var count: Int = 0
        private set

    constructor() : this("unnamed")

    init {
        count = 1
    }

    override suspend fun read(
        from: Long,
        to: Long = Long.MAX_VALUE,
    ): Readings {
        fun nested() = 1
        val text = "fun hidden() { $name"
        return emptyList()
    }

    companion object {
        fun of(name: String) = Station(name)
    }
}

enum class Sky(val word: String) {
    CLEAR("clear"), CLOUDY("cloudy");

    fun isDark() = this == CLOUDY
}

object Registry {
    fun find(name: String): Station? = null
}

fun <T : Comparable<T>> List<T>.highest(): T? = maxOrNull()

fun main() {
    println("{")
}
