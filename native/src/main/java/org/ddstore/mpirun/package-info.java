// SPDX-License-Identifier: Apache-2.0
/** Programs without Spark, whose ranks are processes that {@code mpirun} has started. */
package org.ddstore.mpirun;
