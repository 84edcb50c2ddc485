// SPDX-License-Identifier: Apache-2.0
/**
 * Two hosts on one machine, for tests and programs that need a network between processes. Entry
 * point: {@link org.ddstore.hosts.TwoHosts}. Requires Linux and root.
 */
@Internal
package org.ddstore.hosts;

import org.ddstore.types.Internal;
