// SPDX-License-Identifier: Apache-2.0
package org.ddstore.architecture.sample.leak.api;

import org.ddstore.architecture.sample.leak.hidden.Hidden;

/**
 * Names an internal type as the bound of its type parameter.
 *
 * @param <T> any such type
 */
public interface LeakingBound<T extends Hidden> {}
