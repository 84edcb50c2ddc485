/** Example programs. */
package org.ddstore.examples;
