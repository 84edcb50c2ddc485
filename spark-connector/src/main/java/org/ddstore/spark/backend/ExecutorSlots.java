// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.backend;

/**
 * The slots of the executors that a job can use.
 *
 * @param maxPerExecutor largest number of slots of one executor
 * @param cpusPerTask number of cores of a slot
 * @param isLocal whether the only executor is the driver's JVM
 */
public record ExecutorSlots(int maxPerExecutor, int cpusPerTask, boolean isLocal) {}
