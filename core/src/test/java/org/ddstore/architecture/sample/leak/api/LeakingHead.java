// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture.sample.leak.api;

import java.util.function.Supplier;
import org.ddstore.architecture.sample.leak.hidden.Hidden;

/** Names an internal type as a type argument of its supertype. */
public abstract class LeakingHead implements Supplier<Hidden> {}
