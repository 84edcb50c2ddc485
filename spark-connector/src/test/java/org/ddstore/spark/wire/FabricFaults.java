package org.ddstore.spark.wire;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Faults under reads by libfabric, run with {@code -Dddstore.fabric.faults=true}: its tcp provider
 * can end the JVM. When a connection closes while the answer to a read has come in part, the
 * provider (1.17) reports the read twice, the second time without a context, which {@code ofi_rxm}
 * follows.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@EnabledIfSystemProperty(
    named = "ddstore.fabric.faults",
    matches = "true",
    disabledReason = "ofi_rxm of libfabric 1.17 ends the JVM when a read breaks off in its answer")
@interface FabricFaults {}
