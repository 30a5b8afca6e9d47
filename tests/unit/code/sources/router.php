<html><?php
declare(strict_types=1);

namespace App\Http;

use Closure;

const VERSION = '1.2';
define('LIMIT', 10);

interface Handler
{
    public function handle(Request $request): Response;
}

trait Logs
{
    protected function log(string $line): void {}
}

#[Route('/x')]
abstract class Router implements Handler
{
    use Logs;

    public const METHODS = ['GET', 'POST'];
    private array $routes = [];

    public function __construct(private readonly Container $container) {}

    #[Pure]
    public static function create(
        string $base = '/', // where it starts
        ?Closure $fallback = null
    ): static {
        $text = "function hidden() { class No {";
        return new static();
    }

    abstract protected function match(string $path): ?array;
}

enum Method: string
{
    case Get = 'GET';
    case Post = 'POST';

    public function label(): string { return ucfirst($this->value); }
}

function redirect(string $to, int $status = 302): Response
{
    return new Response($to, $status);
}

/* function inComment() {} */
if (!function_exists('dump')) {
    function dump(mixed ...$values): void {}
}
?>
<p>function text() {</p>
